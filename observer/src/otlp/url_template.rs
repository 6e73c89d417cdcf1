//! Method and path of a request, with placeholders for names: `GET /api/v1/namespaces/{namespace}/pods/{name}`.
//!
//! Both are those that kube-apiserver parsed the record's fields from (kubernetes/apiserver
//! `pkg/endpoints/request/requestinfo.go`). Its own spans have similar names (`pkg/endpoints/filters/traces.go`).

use observer_core::exchange::Scope;
use observer_core::k8s::Verb;
use observer_core::observer::RequestRecord;

/// The method and the path of a request for a resource; `None` for any other request, also for one that is proxied.
pub(super) fn method_and_template(record: &RequestRecord) -> Option<(&'static str, String)> {
    let scope = record.shape.scope.as_ref()?;
    let method = if record.head_only { "HEAD" } else { method(record.verb?)? };
    let (resource, subresource) = match record.shape.resource.split_once('/') {
        Some((resource, subresource)) => (resource, Some(subresource)),
        None => (record.shape.resource.as_str(), None),
    };
    let plural = resource.split('.').next().unwrap_or_default();
    let root = if record.api_version.contains('/') { "/apis" } else { "/api" };
    let mut path = format!("{root}/{}", record.api_version);
    // A namespace is in the namespace of its own name.
    if let (Scope::Namespace(_), false) = (scope, resource == "namespaces") {
        path.push_str("/namespaces/{namespace}");
    }
    path.extend(["/", plural]);
    if !record.name.is_empty() {
        path.push_str("/{name}");
    }
    path.extend(subresource.into_iter().flat_map(|subresource| ["/", subresource]));
    Some((method, path))
}

const fn method(verb: Verb) -> Option<&'static str> {
    match verb {
        Verb::Get | Verb::List | Verb::Watch => Some("GET"),
        Verb::Create => Some("POST"),
        Verb::Update => Some("PUT"),
        Verb::Patch => Some("PATCH"),
        Verb::Delete | Verb::DeleteCollection => Some("DELETE"),
        Verb::Proxy | Verb::Other => None,
    }
}
