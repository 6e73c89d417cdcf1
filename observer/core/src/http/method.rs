//! The methods of requests: those that HTTP has, and no other word that stands in their place.

/// RFC 9110 §9.3 and RFC 5789. Kubernetes knows no others.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
/// What every other one is called.
const OTHER: &str = "OTHER";

/// The method, or `OTHER`: where a body's end was misunderstood, on either side, the rest of it is read as a request line, and its first word
/// may be a password.
pub(super) fn known(method: &[u8]) -> &'static str {
    METHODS.into_iter().find(|known| known.as_bytes() == method).unwrap_or(OTHER)
}
