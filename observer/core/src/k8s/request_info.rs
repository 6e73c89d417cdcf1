//! The verb, resource and name of a request.
//!
//! Upstream: kubernetes/apiserver pkg/endpoints/request/requestinfo.go, unchanged from 1.16 to 1.36 in all parts that are read
//! here.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use super::list_options::ListOptions;
use super::verb::Verb;

/// Longest name that is kept of a group, resource, namespace, …, in bytes. DNS subdomains have at most 253.
const MAX_NAME: usize = 512;
/// Number of segments kept of a non-resource path; later ones can contain anything.
const PATH_SEGMENTS_KEPT: usize = 4;
/// Segments for which there is room at once: a subresource of a namespaced object in a group has eight.
const USUAL_SEGMENTS: usize = 8;
/// Subresources whose answers last: kubernetes pkg/controlplane/apiserver/config.go `LongRunningFunc`, 1.31.
const LONG_RUNNING: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// A resource type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// API group; empty for the core group.
    pub group: String,
    /// API version, such as `v1`.
    pub version: String,
    /// Plural name, such as `pods`.
    pub resource: String,
}

impl Resource {
    /// Group and version as in an object's `apiVersion`: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

impl fmt::Display for Resource {
    /// `pods`, `deployments.apps`: as users type it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            formatter.write_str(&self.resource)
        } else {
            write!(formatter, "{}.{}", self.resource, self.group)
        }
    }
}

/// Verb, resource and name of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestInfo {
    /// The requested action.
    pub verb: Verb,
    /// The resource type; `None` for discovery and operational paths.
    pub resource: Option<Resource>,
    /// Such as `status` or `log`; empty for the object itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// From the path; empty for all namespaces and for cluster-scoped resources.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// From the path, or from an exact `metadata.name` field selector.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether the verb came from a `/watch/` or `/proxy/` segment of the path.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verb_via_path_prefix: bool,
    /// The first four segments of the path of a non-resource request; otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub non_resource_path: String,
}

impl RequestInfo {
    /// Longest name that is kept of a group, resource, namespace, …, in bytes.
    pub const MAX_NAME: usize = MAX_NAME;
    /// Longest path that is kept of a non-resource request, in bytes.
    pub const MAX_PATH: usize = PATH_SEGMENTS_KEPT * (1 + MAX_NAME);

    /// Reads method, path (percent-encoded, as sent) and options. `prefix` is a path in front of the API server's own, as gateways
    /// use it (`/k8s/clusters/c-1`), or empty.
    pub fn parse(method: &str, path: &str, options: &ListOptions, prefix: &str) -> Self {
        let path = path.strip_prefix(prefix.trim_end_matches('/')).unwrap_or(path);
        let path = match memchr(b'%', path.as_bytes()) {
            Some(_) => percent_decode_str(path).decode_utf8_lossy(),
            None => Cow::Borrowed(path),
        };
        let mut segments = Vec::with_capacity(USUAL_SEGMENTS);
        segments.extend(path.trim_matches('/').split('/'));
        match ApiPath::of(&segments) {
            Some(api) => api.request_info(method, options),
            None => Self::non_resource(method, &segments),
        }
    }

    /// Whether the request is a list, watch or deletecollection of a resource.
    pub fn is_collection(&self) -> bool {
        self.resource.is_some() && matches!(self.verb, Verb::List | Verb::Watch | Verb::DeleteCollection)
    }

    /// Whether its answer may last as long as the client wants: a watch, a log that is followed, a connection to a pod or node.
    pub fn is_long_running(&self) -> bool {
        matches!(self.verb, Verb::Watch | Verb::Proxy) || LONG_RUNNING.contains(&self.subresource.as_str())
    }

    fn non_resource(method: &str, segments: &[&str]) -> Self {
        let kept: Vec<String> = segments.iter().take(PATH_SEGMENTS_KEPT).map(|segment| name(segment)).collect();
        Self {
            verb: if method == "GET" { Verb::Get } else { Verb::Other },
            resource: None,
            subresource: String::new(),
            namespace: String::new(),
            name: String::new(),
            verb_via_path_prefix: false,
            non_resource_path: format!("/{}", kept.join("/")),
        }
    }
}

/// A path below `/api/VERSION/` or `/apis/GROUP/VERSION/`.
struct ApiPath<'p> {
    group: &'p str,
    version: &'p str,
    /// The segments after them; never empty.
    rest: &'p [&'p str],
}

impl<'p> ApiPath<'p> {
    fn of(segments: &'p [&'p str]) -> Option<Self> {
        let (group, version, rest) = match segments {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _other => return None,
        };
        (!rest.is_empty()).then_some(Self { group, version, rest })
    }

    fn request_info(self, method: &str, options: &ListOptions) -> RequestInfo {
        let (verb, rest) = match self.rest {
            ["watch", rest @ ..] if !rest.is_empty() => (Some(Verb::Watch), rest),
            ["proxy", rest @ ..] if !rest.is_empty() => (Some(Verb::Proxy), rest),
            rest => (None, rest),
        };
        let (namespace, parts) = namespace_and_parts(rest);
        let part = |index| parts.get(index).copied().unwrap_or_default();
        let subresource = if verb == Some(Verb::Proxy) { "" } else { part(2) };
        let mut info = RequestInfo {
            verb: verb.unwrap_or_else(|| verb_of_method(method)),
            resource: Some(Resource { group: name(self.group), version: name(self.version), resource: name(part(0)) }),
            subresource: name(subresource),
            namespace: name(namespace),
            name: name(part(1)),
            verb_via_path_prefix: verb.is_some(),
            non_resource_path: String::new(),
        };
        if info.name.is_empty() {
            info.without_name(options);
        }
        info
    }
}

impl RequestInfo {
    /// Completes a request without a name: a get is a list or a watch, a delete is a deletecollection.
    fn without_name(&mut self, options: &ListOptions) {
        match self.verb {
            Verb::Get => {
                self.verb = if options.watch { Verb::Watch } else { Verb::List };
                if !options.undecodable
                    && let Some(selected) = options.exact_field("metadata.name").filter(|selected| is_path_segment(selected))
                {
                    self.name = name(&selected);
                }
            }
            Verb::Delete => self.verb = Verb::DeleteCollection,
            Verb::List
            | Verb::Watch
            | Verb::Create
            | Verb::Update
            | Verb::Patch
            | Verb::DeleteCollection
            | Verb::Proxy
            | Verb::Other => {}
        }
    }
}

/// The namespace, and the segments from the resource on. In `namespaces/NS/pods/…` they start at `pods`; in `namespaces/NS` and
/// `namespaces/NS/status`, the resource is `namespaces` itself.
fn namespace_and_parts<'p>(rest: &'p [&'p str]) -> (&'p str, &'p [&'p str]) {
    match rest {
        ["namespaces", namespace, "status" | "finalize", ..] => (namespace, rest),
        ["namespaces", namespace, parts @ ..] if !parts.is_empty() => (namespace, parts),
        ["namespaces", namespace] => (namespace, rest),
        parts => ("", parts),
    }
}

fn verb_of_method(method: &str) -> Verb {
    match method {
        "GET" | "HEAD" => Verb::Get,
        "POST" => Verb::Create,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        "DELETE" => Verb::Delete,
        _other => Verb::Other,
    }
}

/// As kubernetes/apimachinery pkg/api/validation/path `IsValidPathSegmentName`.
fn is_path_segment(name: &str) -> bool {
    !matches!(name, "." | "..") && !name.contains(['/', '%'])
}

fn name(segment: &str) -> String {
    if segment.len() <= MAX_NAME && segment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return segment.to_owned();
    }
    let mut kept: String = segment.chars().filter(|character| !character.is_control()).take(MAX_NAME).collect();
    kept.truncate(kept.floor_char_boundary(MAX_NAME));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the spirit of upstream's `requestinfo_test.go`: `METHOD URL → verb group/version resource/subresource namespace name`.
    #[test]
    fn paths_are_read_as_kube_apiserver_reads_them() {
        for (request, expected) in [
            ("GET /api/v1/namespaces", "list /v1 namespaces/ ns= name="),
            ("GET /api/v1/namespaces/other", "get /v1 namespaces/ ns=other name=other"),
            ("GET /api/v1/namespaces/other/status", "get /v1 namespaces/status ns=other name=other"),
            ("PUT /api/v1/namespaces/other/finalize", "update /v1 namespaces/finalize ns=other name=other"),
            ("GET /api/v1/namespaces/other/pods", "list /v1 pods/ ns=other name="),
            ("GET /api/v1/namespaces/other/pods/foo", "get /v1 pods/ ns=other name=foo"),
            ("HEAD /api/v1/namespaces/other/pods/foo", "get /v1 pods/ ns=other name=foo"),
            ("GET /api/v1/pods", "list /v1 pods/ ns= name="),
            ("HEAD /api/v1/pods", "list /v1 pods/ ns= name="),
            ("GET /api/v1/pods/", "list /v1 pods/ ns= name="),
            ("GET /api/v1/namespaces/other/pods/foo/log", "get /v1 pods/log ns=other name=foo"),
            ("GET /api/v1/namespaces/other/pods/foo/proxy/a/b", "get /v1 pods/proxy ns=other name=foo"),
            ("GET /api/v1/watch/pods", "watch! /v1 pods/ ns= name="),
            ("GET /api/v1/watch/namespaces/other/pods/foo", "watch! /v1 pods/ ns=other name=foo"),
            ("GET /api/v1/proxy/namespaces/other/pods/foo/bar", "proxy! /v1 pods/ ns=other name=foo"),
            ("GET /api/v1/pods?watch=true", "watch /v1 pods/ ns= name="),
            ("GET /api/v1/pods?watch=false", "list /v1 pods/ ns= name="),
            ("GET /api/v1/pods?watch=0", "list /v1 pods/ ns= name="),
            ("GET /api/v1/pods?watch=", "watch /v1 pods/ ns= name="),
            ("GET /api/v1/namespaces/other/pods/foo?watch=1", "get /v1 pods/ ns=other name=foo"),
            ("GET /api/v1/pods?fieldSelector=metadata.name%3Dfoo", "list /v1 pods/ ns= name=foo"),
            ("GET /api/v1/pods?watch=true&fieldSelector=metadata.name%3Dfoo", "watch /v1 pods/ ns= name=foo"),
            ("GET /api/v1/pods?fieldSelector=metadata.name%3D..%2Fx", "list /v1 pods/ ns= name="),
            ("GET /api/v1/pods?limit=x&watch=true&fieldSelector=metadata.name%3Dfoo", "watch /v1 pods/ ns= name="),
            ("POST /api/v1/namespaces/other/pods", "create /v1 pods/ ns=other name="),
            ("DELETE /api/v1/namespaces/other/pods", "deletecollection /v1 pods/ ns=other name="),
            ("DELETE /api/v1/namespaces/other/pods/foo", "delete /v1 pods/ ns=other name=foo"),
            ("PATCH /apis/apps/v1/namespaces/other/deployments/foo", "patch apps/v1 deployments/ ns=other name=foo"),
            ("GET /apis/apps/v1/deployments", "list apps/v1 deployments/ ns= name="),
            ("OPTIONS /api/v1/pods", "other /v1 pods/ ns= name="),
            ("GET /api/v1/namespaces/kube%2Dsystem/pods", "list /v1 pods/ ns=kube-system name="),
        ] {
            assert_eq!(describe(request, ""), expected, "{request}");
        }
    }

    #[test]
    fn discovery_and_operational_paths_are_not_resource_requests() {
        for path in ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/version", "/healthz/ping", "/openapi/v3"] {
            let info = RequestInfo::parse("GET", path, &ListOptions::default(), "");
            assert_eq!((info.resource, info.non_resource_path.as_str()), (None, path));
        }
    }

    #[test]
    fn names_are_bounded_in_bytes() {
        let path = format!("/api/v1/namespaces/{}/pods", "%E2%82%AC".repeat(MAX_NAME));
        let info = RequestInfo::parse("GET", &path, &ListOptions::default(), "");
        assert_eq!(info.namespace, "€".repeat(MAX_NAME / 3));
    }

    #[test]
    fn path_prefix_of_a_gateway_is_not_part_of_the_request() {
        assert_eq!(describe("GET /k8s/clusters/c-1/api/v1/pods", "/k8s/clusters/c-1"), "list /v1 pods/ ns= name=");
        assert_eq!(describe("GET /k8s/clusters/c-1/api/v1/pods", "/k8s/clusters/c-1/"), "list /v1 pods/ ns= name=");
    }

    #[track_caller]
    fn describe(request: &str, prefix: &str) -> String {
        let (method, url) = request.split_once(' ').unwrap();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let info = RequestInfo::parse(method, path, &ListOptions::parse(query), prefix);
        let resource = info.resource.unwrap();
        let mark = if info.verb_via_path_prefix { "!" } else { "" };
        format!(
            "{}{mark} {}/{} {}/{} ns={} name={}",
            info.verb.as_str(),
            resource.group,
            resource.version,
            resource.resource,
            info.subresource,
            info.namespace,
            info.name
        )
    }
}
