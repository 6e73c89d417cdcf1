//! Reads one kubeconfig file, and parses it into YAML documents.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};
use serde_saphyr::DuplicateKeyPolicy;
use serde_saphyr::options::NonFiniteFloatPolicy;

use super::error::{Error, Location};
use super::section::type_name;
use crate::bounded_file;

/// Maximum size of a kubeconfig file, in bytes. A context with its certificates takes about 6 KiB.
pub(super) const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum length of a key in bytes, including its quotes. YAML 1.2 §7.4.2 allows no longer keys on one line. A client could not
/// read them in the copy, which is JSON.
const MAX_KEY: usize = 1024;

/// Maximum number of nodes that all aliases (`*name`) together may expand to.
const MAX_REPLAYED: usize = 50_000;

/// Returns the documents of a kubeconfig file, or `None` if the file does not exist.
///
/// client-go reads only the first document of a file, kube-rs reads all. Here, all documents are read, each as if it were a
/// separate file.
pub(super) fn read(file: &Path) -> Result<Option<Vec<Map<String, Value>>>, Error> {
    let bytes = match bounded_file::read(file, MAX_BYTES) {
        Ok(bytes) => bytes,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) if source.kind() == io::ErrorKind::FileTooLarge => {
            return Err(Error::TooLarge { file: file.to_owned(), limit: MAX_BYTES });
        }
        Err(source) => return Err(Error::Read { file: file.to_owned(), source }),
    };
    let text = decode(bytes).ok_or_else(|| Error::NotText { file: file.to_owned() })?;
    parse(file, &text)?.into_iter().map(|document| mapping(file, document)).collect::<Result<_, _>>().map(Some)
}

/// Decodes UTF-8, or UTF-16 with its byte order mark. PowerShell's `>` writes UTF-16, and kube-rs reads it
/// (`kube-client/src/config/file_config.rs`).
fn decode(bytes: Vec<u8>) -> Option<String> {
    match bytes.as_slice() {
        [0xFF, 0xFE, units @ ..] => decode_utf16(units, u16::from_le_bytes),
        [0xFE, 0xFF, units @ ..] => decode_utf16(units, u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, text @ ..] => std::str::from_utf8(text).map(str::to_owned).ok(),
        _ => String::from_utf8(bytes).ok(),
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(pairs.iter().copied().map(unit)).collect::<Result<_, _>>().ok()
}

/// Parses YAML as client-go does: the last value of a duplicate key counts, `yes` and `on` are booleans, `<<` merges. The library's
/// default budget bounds depth and number of nodes. Its errors must quote no lines of the file, since these could contain tokens.
fn parse(file: &Path, text: &str) -> Result<Vec<Value>, Error> {
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_REPLAYED },
        with_snippet: false,
    };
    serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| Error::Yaml { file: file.to_owned(), what: error.to_string() })
}

fn mapping(file: &Path, document: Value) -> Result<Map<String, Value>, Error> {
    let Value::Object(document) = document else {
        let what = format!("contains {}, not a kubeconfig", type_name(&document));
        return Err(Error::NotAKubeconfig { file: file.to_owned(), what });
    };
    expect_word(file, &document, "apiVersion", "v1")?;
    expect_word(file, &document, "kind", "Config")?;
    match document.iter().find_map(|(key, value)| too_long_key(key, value)) {
        Some(length) => {
            let what = format!("has a key of {length} characters; YAML allows {MAX_KEY} on one line");
            Err(Error::NotAKubeconfig { file: file.to_owned(), what })
        }
        None => Ok(document),
    }
}

/// Returns the length of the first key that is too long, or `None`. The recursion is bounded, since the library bounds the nesting
/// of values.
fn too_long_key(key: &str, value: &Value) -> Option<usize> {
    let length = Value::from(key).to_string().chars().count();
    if length > MAX_KEY {
        return Some(length);
    }
    match value {
        Value::Object(members) => members.iter().find_map(|(key, value)| too_long_key(key, value)),
        Value::Array(items) => items.iter().find_map(|item| too_long_key("", item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Checks `apiVersion` or `kind`. The field may be missing; client-go then assumes the expected value. Any other value means
/// another kind of object.
fn expect_word(file: &Path, document: &Map<String, Value>, key: &str, word: &str) -> Result<(), Error> {
    match document.get(key) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(found)) if found.is_empty() || found == word => Ok(()),
        Some(Value::String(found)) => {
            let what = format!("{key} is {found:?}, which is not valid in a kubeconfig");
            Err(Error::NotAKubeconfig { file: file.to_owned(), what })
        }
        Some(other) => {
            let what = format!("expected {word:?} but found {}", type_name(other));
            Err(Error::WrongType { location: Location::new(file, key), what })
        }
    }
}
