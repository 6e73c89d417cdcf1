//! Invariants of `watchtap inject`: the original is restored byte by byte, and another injection changes nothing.
//!
//! The input is the text of a manifest.

use watchtap::injection::{inject_text, uninject_text};

/// Injects the manifest once and twice, and takes the sidecar out again.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    // With an annotation in the input, uninject may restore what the input claims to be the original.
    let _ = uninject_text(text);
    let Some(once) = inject_text(text).filter(|once| once != text && !text.contains("watchtap.dev/injected")) else { return };
    assert_eq!(inject_text(&once).as_deref(), Some(once.as_str()), "another injection changes the result");
    assert_eq!(uninject_text(&once).as_deref(), Some(text), "the original is not restored");
}
