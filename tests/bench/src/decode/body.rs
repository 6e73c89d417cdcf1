//! List bodies as API servers send them.
//!
//! The objects lie in `bodies/`, as JSON for people: a pod with its managed fields, a custom resource (whose members come in alphabetical order,
//! with the list's metadata behind the items), a secret that is mostly base64. A list repeats one of them, each with an identity of its own.

use anyhow::{Context, Result};
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

/// What a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ListKind {
    /// Many small values, deeply nested.
    Pods,
    /// As the API server writes what it does not know: through a map, so the order of members is alphabetical.
    CustomResources,
    /// Few long strings.
    Secrets,
}

/// One list body, and what a decoder must find in it.
#[derive(Clone, Debug)]
pub(crate) struct ListBody {
    /// What it is a list of.
    pub(crate) kind: ListKind,
    /// The `Content-Type` under which it is sent.
    pub(crate) content_type: &'static str,
    /// The `Content-Encoding`; empty for none.
    pub(crate) content_encoding: &'static str,
    /// The bytes.
    pub(crate) bytes: Bytes,
    /// How many items it has.
    pub(crate) items: u64,
}

/// Where an item's number stands in the objects; always as many digits, so all items are equally long.
const NUMBER: &str = "#######";

impl ListKind {
    pub(crate) const ALL: [Self; 3] = [Self::Pods, Self::CustomResources, Self::Secrets];

    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::CustomResources => "custom resources",
            Self::Secrets => "secrets",
        }
    }

    /// A JSON list of about `size` bytes, of one item at least.
    pub(crate) fn json(self, size: usize) -> Result<ListBody> {
        let item = self.item()?;
        let items = (size / (item.len() + 1)).max(1);
        let (head, tail) = self.frame();
        let mut text = String::with_capacity(head.len() + items * (item.len() + 1) + tail.len());
        text.push_str(head);
        for number in 0..items {
            if number > 0 {
                text.push(',');
            }
            text.push_str(&item.replace(NUMBER, &format!("{number:07}")));
        }
        text.push_str(tail);
        let items = u64::try_from(items)?;
        Ok(ListBody { kind: self, content_type: "application/json", content_encoding: "", bytes: text.into(), items })
    }

    fn item(self) -> Result<String> {
        let pretty = match self {
            Self::Pods => include_str!("../../bodies/pod.json"),
            Self::CustomResources => include_str!("../../bodies/custom-resource.json"),
            Self::Secrets => include_str!("../../bodies/secret.json"),
        };
        let object: Value = serde_json::from_str(pretty).with_context(|| format!("the object for {} is no JSON", self.name()))?;
        Ok(object.to_string())
    }

    fn frame(self) -> (&'static str, &'static str) {
        match self {
            Self::Pods => (r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"98765432"},"items":["#, "]}\n"),
            Self::CustomResources => (
                r#"{"apiVersion":"routing.example/v1","items":["#,
                "],\"kind\":\"RouteList\",\"metadata\":{\"continue\":\"\",\"resourceVersion\":\"98765432\"}}\n",
            ),
            Self::Secrets => {
                (r#"{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"98765432"},"items":["#, "]}\n")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_json_of_the_size_that_was_asked_for_with_distinct_items() {
        for kind in ListKind::ALL {
            let body = kind.json(100_000).unwrap();
            let list: Value = serde_json::from_slice(&body.bytes).unwrap();
            let items = list["items"].as_array().unwrap();
            assert_eq!(u64::try_from(items.len()).unwrap(), body.items, "{kind:?}");
            assert!(items.len() > 1 && items[0]["metadata"]["uid"] != items[1]["metadata"]["uid"], "{kind:?}");
            assert!((90_000..=101_000).contains(&body.bytes.len()), "{kind:?}: {}", body.bytes.len());
        }
    }

    #[test]
    fn smallest_list_has_one_item() {
        assert_eq!(ListKind::Pods.json(0).unwrap().items, 1);
    }
}
