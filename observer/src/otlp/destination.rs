//! Where and how one signal is sent.

use std::time::Duration;

use super::endpoint::Endpoint;
use super::headers::Headers;
use crate::api_server::UpstreamTrust;

/// The collector of one signal.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    /// Its address.
    pub(super) endpoint: Endpoint,
    /// Header fields of each request.
    pub(super) headers: Headers,
    /// The certificates that it is trusted by.
    pub(super) trust: UpstreamTrust,
    /// The variable that sets these certificates, or would.
    pub(super) trust_variable: String,
    /// The coding of a request's body.
    pub(super) compression: Compression,
    /// Time limit of one request, with its connection, until the head of its answer.
    pub(super) time_limit: Duration,
}

impl Destination {
    /// Whether header fields, which may be secret, cross a network without encryption.
    pub(super) fn exposes_headers(&self) -> bool {
        !(self.endpoint.is_https || self.endpoint.is_loopback() || self.headers.is_empty())
    }
}

/// The coding of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// As it is.
    None,
    /// RFC 1952, at the fastest level.
    Gzip,
}
