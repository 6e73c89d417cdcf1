//! Converts protobuf bodies of requests to JSON.

use bytes::Bytes;
use observer_core::k8s::{RequestInfo, Verb};

use crate::api::protobuf::{self, Body};
use crate::api::{Resource, subresource};
use crate::refusal::Refusal;

const JSON: &str = "application/json";

/// Converts an object or deletion options from protobuf to JSON. Any other body stays unchanged, with its content type.
pub(super) fn in_json<'t>(
    resource: &'static Resource,
    info: &RequestInfo,
    content_type: &'t str,
    body: Bytes,
) -> Result<(&'t str, Bytes), Refusal> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    let Some(expected) = expected(resource, info).filter(|_| media_type == protobuf::MEDIA_TYPE && !body.is_empty()) else {
        return Ok((content_type, body));
    };
    let object = protobuf::to_json(expected, &body).map_err(|error| {
        let refuse = if error.is_unsupported() { Refusal::unsupported_media_type } else { Refusal::bad_request };
        refuse(error.to_string())
    })?;
    Ok((JSON, Bytes::from(object.to_string())))
}

fn expected(resource: &'static Resource, info: &RequestInfo) -> Option<Body> {
    let below = subresource(resource, &info.subresource);
    // The body for an unknown path is not read.
    if below.is_none() && !info.subresource.is_empty() {
        return None;
    }
    match info.verb {
        Verb::Create | Verb::Update => Some(Body::Object(below.and_then(|below| below.of).unwrap_or(resource))),
        Verb::Delete | Verb::DeleteCollection => Some(Body::DeleteOptions),
        Verb::Get | Verb::List | Verb::Watch | Verb::Patch | Verb::Proxy | Verb::Other => None,
    }
}
