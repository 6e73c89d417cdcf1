//! Conversations between a client and an API server, with canaries in everything that either sends.

use super::{http1, http2, malformed};
use crate::dialogue::Dialogue;

/// A scripted connection that both sides know.
pub(super) struct Conversation {
    /// Its subject, for failure messages.
    pub(super) name: &'static str,
    /// The ALPN protocol.
    pub(super) protocol: &'static str,
    /// The messages of both sides, in order. The client sends first, and each conversation starts with different bytes.
    pub(super) said: Dialogue,
}

/// Every conversation, over HTTP/1.1, HTTP/2 and as malformed traffic.
pub(super) fn conversations() -> Vec<Conversation> {
    let of = |protocol, named: Vec<(&'static str, Dialogue)>| {
        named.into_iter().map(move |(name, said)| Conversation { name, protocol, said })
    };
    let http1 = http1::conversations().into_iter().chain(malformed::of_http1()).collect();
    let http2 = http2::conversations().into_iter().chain(malformed::of_http2()).collect();
    of("http/1.1", http1).chain(of("h2", http2)).collect()
}
