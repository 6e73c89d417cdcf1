//! The request target: its path, and the query parameters that Kubernetes defines.

use crate::k8s::query;

/// Longest path that is kept, in bytes (kube-apiserver itself accepts a request line or header block of 1 MiB).
const MAX_PATH: usize = 4096;
/// Longest query that is parsed, in bytes. Its longest part is usually the continue token.
const MAX_QUERY: usize = 32 * 1024;

/// Path and query of a request, in origin form.
///
/// Only the query parameters in [`query::KEPT`] are kept, in the order sent and still percent-encoded. A token in a query string,
/// as WebSocket clients and watches of old dashboards send it, is dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The path as sent, starting with `/`; cut at 4096 bytes.
    pub path: String,
    /// `name=value` pairs joined by `&`, without `?`.
    pub query: String,
    /// Number of parameters dropped because they are not on the list; all after the first 32 KiB count as one.
    pub dropped_parameters: u32,
}

impl Target {
    /// Parses a `:path` pseudo-header or the target of a request line (RFC 9112 §3.2). Of the absolute form, scheme and authority
    /// are dropped, as they may contain a password.
    pub fn parse(target: &[u8]) -> Self {
        let text = String::from_utf8_lossy(target);
        let Parts { path, whole_pairs, has_more } = Parts::of(&text);
        let (query, dropped_parameters) = keep(whole_pairs);
        Self { path: path.to_owned(), query, dropped_parameters: dropped_parameters.saturating_add(u32::from(has_more)) }
    }

    /// Path and query of a target, with the bounds of [`Self::parse`]. The query has all parameters, also those that may hold a credential,
    /// so it must not be kept.
    pub(crate) fn path_and_query(target: &str) -> (&str, &str) {
        let Parts { path, whole_pairs, .. } = Parts::of(target);
        (path, whole_pairs)
    }
}

/// The bounded parts of a target.
struct Parts<'t> {
    path: &'t str,
    whole_pairs: &'t str,
    /// Whether the query is longer.
    has_more: bool,
}

impl<'t> Parts<'t> {
    fn of(target: &'t str) -> Self {
        let origin = strip_authority(target);
        let origin = origin.split('#').next().unwrap_or_default();
        let (path, query) = origin.split_once('?').unwrap_or((origin, ""));
        let whole_pairs = cut_query(query);
        let path = if path.is_empty() { "/" } else { cut(path, MAX_PATH) };
        Self { path, whole_pairs, has_more: query.len() > whole_pairs.len() }
    }
}

fn strip_authority(target: &str) -> &str {
    if target.starts_with('/') {
        return target;
    }
    match target.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '#']) => {
            rest.find(['/', '?', '#']).and_then(|end| rest.get(end..)).unwrap_or("/")
        }
        // The authority form of CONNECT has no place for a user, but a sender may still put one there.
        Some(_) | None => target.rsplit('@').next().unwrap_or_default(),
    }
}

/// At most 32 KiB of a query, cut between pairs: half a selector would be a different selector.
fn cut_query(query: &str) -> &str {
    if query.len() <= MAX_QUERY {
        return query;
    }
    cut(query, MAX_QUERY).rsplit_once('&').map_or("", |(whole, _half)| whole)
}

/// The kept parameters, and the number of dropped ones.
///
/// Go drops a pair with a semicolon (`net/url`, `ParseQuery`), so kube-apiserver ignores it. Older software reads the semicolon as
/// a separator, so another parameter may follow it.
fn keep(query: &str) -> (String, u32) {
    if !query.contains(';') {
        return query::keep_known(query);
    }
    let (without, with): (Vec<_>, Vec<_>) = query.split('&').partition(|pair| !pair.contains(';'));
    let (kept, dropped) = query::keep_known(&without.join("&"));
    (kept, dropped.saturating_add(u32::try_from(with.len()).unwrap_or(u32::MAX)))
}

/// The longest prefix of at most `limit` bytes that ends at a character boundary.
pub(super) fn cut(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{MAX_PATH, MAX_QUERY, Target};

    #[test]
    fn all_target_forms_are_parsed() {
        for (target, path, query) in [
            ("/", "/", ""),
            ("/api/v1/pods", "/api/v1/pods", ""),
            ("/api/v1/pods?limit=500&resourceVersion=0", "/api/v1/pods", "limit=500&resourceVersion=0"),
            ("/a?labelSelector=app%3Dx%2Cb+c", "/a", "labelSelector=app%3Dx%2Cb+c"),
            ("/a%2Fb?watch", "/a%2Fb", "watch"),
            ("/a?", "/a", ""),
            ("/a?limit=1?2#fragment", "/a", "limit=1?2"),
            ("*", "*", ""),
            ("api.example:443", "api.example:443", ""),
            ("https://api.example/version?pretty=true", "/version", "pretty=true"),
            ("https://api.example", "/", ""),
            ("https://api.example?limit=1", "/", "limit=1"),
            ("/apis/http://x", "/apis/http://x", ""),
            ("", "/", ""),
        ] {
            let parsed = Target::parse(target.as_bytes());
            assert_eq!((parsed.path.as_str(), parsed.query.as_str()), (path, query), "{target}");
        }
    }

    #[test]
    fn unknown_parameters_are_dropped_and_counted() {
        for (query, kept, dropped) in [
            ("watch=1&token=a&limit=2&x", "watch=1&limit=2", 2),
            ("token=a", "", 1),
            ("&&watch=1&&", "watch=1", 0),
            ("Watch=1", "", 1),
            ("%77atch=1", "%77atch=1", 0),
            ("watch=1;token=a&limit=2;&x=y", "", 3),
        ] {
            let parsed = Target::parse(format!("/a?{query}").as_bytes());
            assert_eq!((parsed.query.as_str(), parsed.dropped_parameters), (kept, dropped), "{query}");
        }
    }

    #[test]
    fn parsed_target_keeps_no_part_of_a_credential() {
        for target in [
            "/a?access_token=c4n4ry/c4n4ry",
            "/a?watch=1;access_token=c4n4ry",
            "/a?access_token=c4n4ry%3D&watch=1#c4n4ry",
            "/a?c4n4ry",
            "/a?=c4n4ry",
            "/a#c4n4ry",
            "https://user:c4n4ry@api.example/a",
            "https://api.example?access_token=x/c4n4ry",
            "https://api.example#x/c4n4ry",
            "user:c4n4ry@api.example:443",
            "a?access_token=://x/c4n4ry",
        ] {
            let parsed = format!("{:?}", Target::parse(target.as_bytes()));
            assert!(!parsed.contains("c4n4ry"), "{target} became {parsed}");
        }
    }

    #[test]
    fn a_long_path_is_cut_between_characters() {
        let target = format!("/{}", "é".repeat(MAX_PATH));
        let path = Target::parse(target.as_bytes()).path;
        assert_eq!(path.len(), MAX_PATH - 1);
        assert!(target.starts_with(&path));
    }

    #[test]
    fn a_long_query_is_cut_between_parameters() {
        let long = "x".repeat(MAX_QUERY);
        let parsed = Target::parse(format!("/a?limit=1&token=a&labelSelector={long}&watch=1").as_bytes());
        assert_eq!((parsed.query.as_str(), parsed.dropped_parameters), ("limit=1", 2));
        assert_eq!(Target::parse(format!("/a?continue={long}").as_bytes()).query, "");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(Target::parse(b"/a\xff").path, "/a\u{fffd}");
    }
}
