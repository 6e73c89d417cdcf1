//! The side of a server of metrics that knows the answers.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

/// Answers the requests of a server.
pub(crate) trait Answering: Send + Sync + 'static {
    /// Answers a request. Its body is not read.
    fn answer(&self, request: &Request<Incoming>) -> impl Future<Output = Response<Full<Bytes>>> + Send;
}
