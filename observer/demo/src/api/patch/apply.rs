//! Applies a patch in any of the formats, which the content type determines.

use serde_json::{Map, Value};

use super::error::Error;
use super::{json_patch, strategic};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_MERGE_PATCH: &str = "application/strategic-merge-patch+json";

/// Applies `patch` to `object`, in the format that `content_type` names.
///
/// The caller must bound the length of `patch`, as a real server bounds each body (3 MiB). Time and memory are then proportional to
/// patch and object. The parser accepts 128 levels. The fields of the result are not validated, but the result is an object.
///
/// # Errors
/// 400 for a patch that cannot be parsed, 413 for one that costs too much, 415 for other content types. 422 for a patch that does
/// not fit the object. 500 where kube-apiserver also answers 500, mostly for a list element without its merge key.
pub fn apply(content_type: &str, object: &Value, patch: &[u8]) -> Result<Value, Error> {
    let content_type = content_type.split(';').next().unwrap_or_default().trim();
    match content_type {
        JSON_PATCH => json_patch::apply(object, patch),
        MERGE_PATCH => {
            let patch = parsed_object(patch).map_err(|message| Error::bad_request(format!("error decoding patch: {message}")))?;
            let mut merged = object.clone();
            ::json_patch::merge(&mut merged, &Value::Object(patch));
            Ok(merged)
        }
        STRATEGIC_MERGE_PATCH => {
            let patch = parsed_object(patch).map_err(Error::bad_request)?;
            strategic::merge(object.as_object().cloned().unwrap_or_default(), patch).map(Value::Object)
        }
        _ => Err(Error::unsupported_media_type("415: Unsupported Media Type")),
    }
}

fn parsed_object(patch: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(patch) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Err("the patch is not a JSON object".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
