//! The resources in the matrix. No other client reads or writes them.

use serde_json::{Value, json};

/// Objects per resource: more than two pages of three.
pub(super) const OBJECTS: usize = 7;
/// The group of the custom resources.
pub(super) const GROUP: &str = "example.com";
/// The group of the extension server.
pub(super) const AGGREGATED_GROUP: &str = "extension.example";

/// A resource with all objects in the namespace `default`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// `/api/v1` or `/apis/GROUP/v1`.
    root: String,
    plural: String,
    kind: String,
    group: &'static str,
    fields: Value,
}

impl Resource {
    /// Pod templates, which have a watch cache unless a flag disables it.
    pub(super) fn podtemplates() -> Self {
        let container = json!({"name": "c", "image": "i"});
        Self::core("podtemplates", "PodTemplate", json!({"template": {"spec": {"containers": [container]}}}))
    }

    /// Events, which have no watch cache by default.
    pub(super) fn events() -> Self {
        Self::core("events", "Event", json!({"involvedObject": {"namespace": "default"}}))
    }

    /// A custom resource.
    pub(super) fn custom(plural: &str) -> Self {
        Self {
            root: format!("/apis/{GROUP}/v1"),
            plural: plural.to_owned(),
            kind: kind_of(plural),
            group: GROUP,
            fields: json!({}),
        }
    }

    /// A resource of the extension server.
    pub(super) fn aggregated() -> Self {
        let root = format!("/apis/{AGGREGATED_GROUP}/v1");
        Self { root, plural: "flunders".to_owned(), kind: "Flunder".to_owned(), group: AGGREGATED_GROUP, fields: json!({}) }
    }

    fn core(plural: &str, kind: &str, fields: Value) -> Self {
        Self { root: "/api/v1".to_owned(), plural: plural.to_owned(), kind: kind.to_owned(), group: "", fields }
    }

    /// The name in metrics and flags: `podtemplates`, `widgets.example.com`.
    pub(super) fn name(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    pub(super) fn all(&self) -> String {
        format!("{}/{}", self.root, self.plural)
    }

    pub(super) fn in_namespace(&self) -> String {
        format!("{}/namespaces/default/{}", self.root, self.plural)
    }

    pub(super) fn watch_path(&self) -> String {
        format!("{}/watch/{}", self.root, self.plural)
    }

    pub(super) fn object_path(&self) -> String {
        format!("{}/{}", self.in_namespace(), Self::object_name(0))
    }

    pub(super) fn object_name(number: usize) -> String {
        format!("one-{number}")
    }

    /// The object with this number.
    pub(super) fn object(&self, number: usize) -> Value {
        let api_version = self.root.trim_start_matches("/apis/").trim_start_matches("/api/");
        let metadata = json!({"name": Self::object_name(number), "namespace": "default", "labels": {"app": "web"}});
        let mut object = self.fields.clone();
        object["apiVersion"] = api_version.into();
        object["kind"] = self.kind.as_str().into();
        object["metadata"] = metadata;
        object
    }

    /// The `CustomResourceDefinition`.
    pub(super) fn definition(&self) -> Value {
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let (singular, list) = (self.kind.to_lowercase(), format!("{}List", self.kind));
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": self.name()},
            "spec": {
                "group": self.group, "scope": "Namespaced",
                "names": {"plural": self.plural, "singular": singular, "kind": self.kind, "listKind": list},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
            },
        })
    }

    /// etcd's key and value for an object of a custom resource.
    pub(super) fn stored(&self, number: usize) -> (String, String) {
        let mut object = self.object(number);
        object["metadata"]["uid"] = format!("00000000-0000-4000-8000-{number:012}").into();
        object["metadata"]["creationTimestamp"] = "2024-01-01T00:00:00Z".into();
        (format!("/registry/{}/{}/default/{}", self.group, self.plural, Self::object_name(number)), object.to_string())
    }
}

/// `Widget` for `widgets`.
fn kind_of(plural: &str) -> String {
    let mut letters = plural.trim_end_matches('s').chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
