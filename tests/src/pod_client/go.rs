//! The root filesystem of the client-go program: a static binary.

use anyhow::Result;

use super::root::{PodRoot, assemble, copy, require};
use crate::go_client;

pub(super) fn root() -> Result<PodRoot> {
    require("go")?;
    // The name of the binary has the hash of its inputs.
    let binary = go_client::go_informer()?;
    assemble("client-go", &binary, &["/app/informer"], |root| copy(&binary, &root.join("app/informer"), &|_| true))
}
