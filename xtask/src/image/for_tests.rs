//! The image that tests use.

use std::path::PathBuf;

use super::command::{Args, write};

/// The variable that names the image to tests.
pub(crate) const TESTS_VARIABLE: &str = "WATCHTAP_TESTS_IMAGE";

/// Builds the image, and returns the path of its archive. Its name is `localhost/watchtap:1`: no kubelet tries to pull such a name.
pub(crate) fn for_tests() -> anyhow::Result<PathBuf> {
    Ok(write(&Args::for_tests())?.output)
}
