//! Responses with the header fields of kube-apiserver.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};

use super::body::ResponseBody;
use crate::refusal::Refusal;

/// A response in JSON.
pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Response<ResponseBody> {
    with_type(status, "application/json", ResponseBody::full(body))
}

/// A response of another media type.
pub(super) fn with_type(status: StatusCode, content_type: &'static str, body: ResponseBody) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The response for an error.
pub(super) fn refusal(refusal: &Refusal) -> Response<ResponseBody> {
    let status = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = json(status, format!("{}\n", refusal.body()));
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The answer of Go's router for an unknown path.
pub(super) fn no_such_page() -> Response<ResponseBody> {
    with_type(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", ResponseBody::full("404 page not found\n"))
}
