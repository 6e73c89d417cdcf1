//! Decodes the object that a client sends, and checks it against the request's path.
//!
//! kubernetes/apiserver pkg/endpoints/handlers/create.go and pkg/registry/rest/create.go v0.34. Only names are validated.

use serde_json::{Map, Value};

use super::target::Target;
use crate::refusal::Refusal;

/// Maximum size of a request body in bytes, as kube-apiserver's `MaxRequestBodyBytes`.
pub(crate) const LARGEST_BODY: usize = 3 << 20;

/// Maximum length of a name, as of a DNS subdomain.
const LONGEST_NAME: usize = 253;

/// Decodes an object to be written to `target`.
pub(super) fn decode(target: &Target, content_type: &str, body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if !matches!(media_type, "" | "application/json") {
        return Err(Refusal::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/vnd.kubernetes.protobuf, not {media_type}"
        )));
    }
    let object: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
        Refusal::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {error}",
            target.resource.kind, target.resource.version, target.resource.kind
        ))
    })?;
    checked(target, object)
}

/// Checks the type of an object, and gives it metadata.
pub(super) fn checked(target: &Target, mut object: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    check_type(target, &object)?;
    match object.get_mut("metadata") {
        None | Some(Value::Null) => {
            object.insert("metadata".to_owned(), Value::Object(Map::new()));
        }
        Some(Value::Object(_)) => {}
        Some(_) => return Err(Refusal::bad_request("metadata is not an object")),
    }
    Ok(object)
}

/// Checks the object's namespace against the path's, and sets it.
pub(super) fn place(target: &Target, metadata: &mut Map<String, Value>) -> Result<(), Refusal> {
    let namespace = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
    if !target.resource.namespaced {
        metadata.remove("namespace");
        return Ok(());
    }
    if !namespace.is_empty() && namespace != target.namespace {
        return Err(Refusal::bad_request("the namespace of the provided object does not match the namespace sent on the request"));
    }
    metadata.insert("namespace".to_owned(), target.namespace.as_str().into());
    Ok(())
}

/// Checks that a replacing object has the name in the path.
pub(super) fn check_name(target: &Target, object: &Map<String, Value>) -> Result<(), Refusal> {
    let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str).unwrap_or_default();
    if name == target.name {
        return Ok(());
    }
    Err(Refusal::bad_request(format!("the name of the object ({name}) does not match the name on the URL ({})", target.name)))
}

/// Whether a name is valid: in lower case, and allowed in a path, like a DNS subdomain.
pub(super) fn is_name(name: &str) -> bool {
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.len() <= LONGEST_NAME
        && is_end(name.chars().next())
        && is_end(name.chars().last())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.'))
}

fn check_type(target: &Target, object: &Map<String, Value>) -> Result<(), Refusal> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let expected = target.resource.api_version();
    if !api_version.is_empty() && api_version != expected {
        return Err(Refusal::bad_request(format!(
            "the API version in the data ({api_version}) does not match the expected API version ({expected})"
        )));
    }
    if !kind.is_empty() && kind != target.resource.kind {
        return Err(Refusal::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {}: no kind {kind:?} is registered for this path",
            target.resource.version, target.resource.kind
        )));
    }
    Ok(())
}
