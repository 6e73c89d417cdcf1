//! Injection from text to text, without a report: for the fuzz target, which calls it from outside of this crate.

use super::{Accounts, Manifest, Options};

/// The manifest with the sidecar in every pod that can have it; `None` if the text is not YAML.
pub fn inject_text(text: &str) -> Option<String> {
    let mut accounts = Accounts::default();
    let manifest = Manifest::read(text, &mut accounts).ok()?;
    Some(manifest.inject(&Options::default(), &mut accounts).text)
}

/// The manifest without the sidecars that were injected; `None` if the text is not YAML.
pub fn uninject_text(text: &str) -> Option<String> {
    Some(Manifest::read(text, &mut Accounts::default()).ok()?.uninject().text)
}
