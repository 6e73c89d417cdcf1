//! Request methods: those that HTTP defines, and one word for all others.

/// RFC 9110 §9.3 and RFC 5789. Kubernetes uses no others.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
/// Stands for every other method.
const OTHER: &str = "OTHER";

/// The method, or `OTHER`. If an endpoint or this decoder misjudges the end of a body, the rest is read as a request line. Its
/// first word may then be a password.
pub(super) fn known(method: &[u8]) -> &'static str {
    METHODS.into_iter().find(|known| known.as_bytes() == method).unwrap_or(OTHER)
}
