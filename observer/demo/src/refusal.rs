//! Error answers with the same HTTP status and `Status` body as those of kube-apiserver.
//!
//! kubernetes/apimachinery pkg/api/errors/errors.go and kubernetes/apiserver pkg/storage/errors.go v0.34.

use serde_json::{Map, Value, json};

use super::api::Resource;

/// Why a request is refused; also the object of a watch's `ERROR` event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: u16,
    /// Also the `Retry-After` field.
    pub(crate) retry_after: Option<u32>,
    body: Box<Body>,
}

/// The contents of the body. They are boxed to keep `Result`s with a [`Refusal`] small.
#[derive(Clone, Debug, PartialEq)]
struct Body {
    reason: &'static str,
    message: String,
    details: Map<String, Value>,
    continue_token: Option<String>,
}

impl Refusal {
    fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let body = Body { reason, message: message.into(), details: Map::new(), continue_token: None };
        Self { code, retry_after: None, body: Box::new(body) }
    }

    fn about(mut self, resource: &Resource, name: &str) -> Self {
        self.detail("name", name).detail("group", resource.group).detail("kind", resource.name);
        self
    }

    fn detail(&mut self, key: &str, text: &str) -> &mut Self {
        if !text.is_empty() {
            self.body.details.insert(key.to_owned(), text.into());
        }
        self
    }

    fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self.body.details.insert("retryAfterSeconds".to_owned(), seconds.into());
        self
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(crate) fn not_found(resource: &Resource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} {name:?} not found", resource.qualified_name())).about(resource, name)
    }

    /// The error for a path without a known resource.
    pub(crate) fn unknown_path() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    /// The error for an unknown subresource.
    pub(crate) fn no_subresource(resource: &Resource, subresource: &str) -> Self {
        let name = format!("{}/{subresource}", resource.qualified_name());
        let message = match (resource.name, subresource) {
            ("pods", "log" | "exec" | "attach" | "portforward" | "ephemeralcontainers") => {
                format!("no container runs in the demo: its API server does not serve {name}")
            }
            _other => format!("the demo's API server does not serve {name}"),
        };
        // `kubectl debug` reads the details.
        Self::new(404, "NotFound", message).about(resource, "")
    }

    /// The error for a method that a subresource does not support.
    pub(crate) fn no_such_method() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    pub(crate) fn method_not_allowed(verb: &str, resource: &Resource) -> Self {
        let message = format!("{verb} is not supported on resources of kind {:?}", resource.qualified_name());
        Self::new(405, "MethodNotAllowed", message).about(resource, "")
    }

    pub(crate) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::new(406, "NotAcceptable", message)
    }

    pub(crate) fn already_exists(resource: &Resource, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} {name:?} already exists", resource.qualified_name())).about(resource, name)
    }

    pub(crate) fn conflict(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", resource.qualified_name());
        Self::new(409, "Conflict", message).about(resource, name)
    }

    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// The error for a further page of a list whose revision was compacted. `replacement` is a token that continues the list from
    /// the current state.
    pub(crate) fn expired_page(replacement: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a new list without \
             the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with \
             the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the \
             first chunk was returned and now may show up in the list.";
        let mut refusal = Self::expired(message);
        refusal.body.continue_token = Some(replacement);
        refusal
    }

    pub(crate) fn too_large_body(limit: usize) -> Self {
        Self::new(413, "RequestEntityTooLarge", format!("Request entity too large: limit is {limit}"))
    }

    pub(crate) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The error for invalid fields of an object, or invalid parameters. Each cause is `(field, reason, message)`.
    pub(crate) fn invalid(group: &str, kind: &str, name: &str, causes: &[(&str, &str, String)]) -> Self {
        let texts: Vec<String> = causes.iter().map(|(field, _, message)| format!("{field}: {message}")).collect();
        let all = if let [only] = texts.as_slice() { only.clone() } else { format!("[{}]", texts.join(", ")) };
        let qualified = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let mut refusal = Self::new(422, "Invalid", format!("{qualified} {name:?} is invalid: {all}"));
        refusal.detail("name", name).detail("group", group).detail("kind", kind);
        let causes: Vec<Value> =
            causes.iter().map(|(field, reason, message)| json!({"reason": reason, "message": message, "field": field})).collect();
        refusal.body.details.insert("causes".to_owned(), causes.into());
        refusal
    }

    pub(crate) fn too_many_requests(message: impl Into<String>, retry_after: u32) -> Self {
        Self::new(429, "TooManyRequests", message).retry_after(retry_after)
    }

    pub(crate) fn service_unavailable(message: &str) -> Self {
        Self::new(503, "ServiceUnavailable", message)
    }

    pub(crate) fn internal(message: impl std::fmt::Display) -> Self {
        let mut refusal = Self::new(500, "InternalError", format!("Internal error occurred: {message}"));
        refusal.body.details.insert("causes".to_owned(), json!([{"message": message.to_string()}]));
        refusal
    }

    /// An error that upstream does not classify: a 500 without a reason.
    pub(crate) fn unclassified(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    pub(crate) fn timeout(message: &str, retry_after: Option<u32>) -> Self {
        let refusal = Self::new(504, "Timeout", format!("Timeout: {message}"));
        match retry_after {
            Some(seconds) => refusal.retry_after(seconds),
            None => refusal,
        }
    }

    /// The error for a revision that is not reached in time. The cache requests a retry after a second, the store does not.
    pub(crate) fn too_large_resource_version(wanted: u64, current: u64, retry_after: Option<u32>) -> Self {
        let mut refusal = Self::timeout(&format!("Too large resource version: {wanted}, current: {current}"), retry_after);
        let cause = json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
        refusal.body.details.insert("causes".to_owned(), cause);
        refusal
    }

    /// An error with a message from another module, such as `api::patch`.
    pub(crate) fn other(code: u16, message: String) -> Self {
        match code {
            400 => Self::bad_request(message),
            415 => Self::unsupported_media_type(message),
            422 => Self::new(422, "Invalid", message),
            409 => Self::new(409, "Conflict", message),
            _other => Self::internal(message),
        }
    }

    /// The `Status` object.
    pub(crate) fn body(&self) -> Value {
        let mut metadata = Map::new();
        if let Some(token) = &self.body.continue_token {
            metadata.insert("continue".to_owned(), token.as_str().into());
        }
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.body.message,
        });
        if let Some(fields) = status.as_object_mut() {
            if !self.body.reason.is_empty() {
                fields.insert("reason".to_owned(), self.body.reason.into());
            }
            if !self.body.details.is_empty() {
                fields.insert("details".to_owned(), Value::Object(self.body.details.clone()));
            }
            fields.insert("code".to_owned(), self.code.into());
        }
        status
    }
}
