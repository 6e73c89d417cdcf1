//! Objects for the demo cluster, from YAML or JSON files.

use std::path::Path;

use serde_json::Value;

use crate::bounded_file;

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The objects of one file: all documents, and the items of a `List`.
#[derive(Clone, Debug)]
pub(super) struct Objects(pub(super) Vec<Value>);

/// Reads a file, for clap, which adds the flag to an error.
pub(super) fn objects(file: &str) -> Result<Objects, String> {
    let text = bounded_file::read_text(Path::new(file), MAX_BYTES).map_err(|error| error.to_string())?;
    // An error must quote no lines of the file, since these could contain secrets.
    let options = serde_saphyr::options! { with_snippet: false };
    let documents: Vec<Value> = serde_saphyr::from_multiple_with_options(&text, options).map_err(|error| error.to_string())?;
    let mut objects = Vec::new();
    for (index, document) in documents.into_iter().enumerate().filter(|(_, document)| !document.is_null()) {
        let Value::Object(mut object) = document else { return Err(format!("document {} is no object", index + 1)) };
        if object.get("kind").is_none_or(|kind| kind != "List") {
            objects.push(Value::Object(object));
            continue;
        }
        let Some(Value::Array(items)) = object.remove("items") else {
            return Err(format!("document {} is a List without items", index + 1));
        };
        objects.extend(items);
    }
    if objects.is_empty() { Err("no objects".to_owned()) } else { Ok(Objects(objects)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("objects.yaml");
        std::fs::write(&file, text).unwrap();
        let objects = objects(file.to_str().unwrap())?;
        Ok(objects.0.iter().map(|object| object["metadata"]["name"].as_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn documents_and_lists_are_read() {
        let text = "metadata: {name: a}\n---\n---\nkind: List\nitems:\n- metadata: {name: b}\n- metadata: {name: c}\n";
        assert_eq!(read(text).unwrap(), ["a", "b", "c"]);
        assert_eq!(read(r#"{"metadata": {"name": "a"}}"#).unwrap(), ["a"]);
    }

    #[test]
    fn errors_name_the_document_and_quote_no_value() {
        assert_eq!(read("a: 1\n---\n- 1\n").unwrap_err(), "document 2 is no object");
        assert_eq!(read("kind: List\n").unwrap_err(), "document 1 is a List without items");
        assert_eq!(read("").unwrap_err(), "no objects");
        let error = read("token: top-secret\n  x: y\n").unwrap_err();
        assert!(error.contains("line 2") && !error.contains("top-secret"), "{error}");
    }
}
