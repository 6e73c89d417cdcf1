//! Conversations between a client and an API server with canaries in all that either says.

use super::{http1, http2, malformed};
use crate::dialogue::Dialogue;

/// A connection of which both sides know by heart what is said.
pub(super) struct Conversation {
    /// What it is about, for the reader of a failure.
    pub(super) name: &'static str,
    /// What ALPN chooses.
    pub(super) protocol: &'static str,
    /// Who says what, in order. The client begins, and no conversation begins as another does.
    pub(super) said: Dialogue,
}

/// All of them.
pub(super) fn conversations() -> Vec<Conversation> {
    let of = |protocol, named: Vec<(&'static str, Dialogue)>| {
        named.into_iter().map(move |(name, said)| Conversation { name, protocol, said })
    };
    let http1 = http1::conversations().into_iter().chain(malformed::of_http1()).collect();
    let http2 = http2::conversations().into_iter().chain(malformed::of_http2()).collect();
    of("http/1.1", http1).chain(of("h2", http2)).collect()
}
