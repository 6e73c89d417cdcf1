//! Parameters of a request that no rule reads, with the reason for each (§8.3 of docs/semantics.md).

use serde::Serialize;

use super::version::{Release, ServerVersion};
use crate::k8s::{ListOptions, RequestInfo, ResourceVersionMatch, Verb, query};

/// Maximum length of the name of an unknown parameter that is printed, in bytes.
const MAX_NAME: usize = 32;

/// A parameter that changes no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IgnoredParameter {
    /// Its name. Names that may be secret are not printed: one entry gives their count.
    pub name: String,
    /// Why it changes nothing, without a final full stop.
    pub reason: String,
}

/// A group of verbs that ignore the same parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Get,
    /// Also deletecollection, which begins with a list.
    List,
    Watch,
    Write,
}

use Class::{Get, List, Watch, Write};

const ALL: &[Class] = &[Get, List, Watch, Write];
const READS: &[Class] = &[Get, List, Watch];
const ONLY_WATCHES: &str = "only watches have it";
const ONLY_LISTS: &str = "only lists have pages";
const ONLY_VERSION: &str = "a get reads only resourceVersion";
const ONLY_WRITES: &str = "only writes have it";
const NOT_FOR_WRITES: &str = "only reads have it";
const AFTER_READING: &str = "applied after the objects are read; it changes the layer only while the watch cache is not ready";
const OF_EVENTS: &str = "it selects events of the watch, and never changes the layer";
const OF_SUBRESOURCES: &str = "of subresources that connect to a node or a pod; the layer does not depend on it";

/// A parameter, the verbs that ignore it, and the reason. The first row that matches counts. The rules read a known parameter if no
/// row matches it.
const IGNORED: &[(&str, &[Class], &str)] = &[
    ("allowWatchBookmarks", &[Get], ONLY_VERSION),
    ("allowWatchBookmarks", &[List], ONLY_WATCHES),
    ("allowWatchBookmarks", &[Write], NOT_FOR_WRITES),
    ("command", ALL, OF_SUBRESOURCES),
    ("container", ALL, OF_SUBRESOURCES),
    ("continue", &[Get], ONLY_VERSION),
    ("continue", &[Watch], ONLY_LISTS),
    ("continue", &[Write], NOT_FOR_WRITES),
    ("dryRun", READS, ONLY_WRITES),
    ("fieldManager", READS, ONLY_WRITES),
    ("fieldManager", &[Write], "it is recorded in metadata.managedFields only"),
    ("fieldSelector", &[Get], ONLY_VERSION),
    ("fieldSelector", &[List], AFTER_READING),
    ("fieldSelector", &[Watch], OF_EVENTS),
    ("fieldSelector", &[Write], NOT_FOR_WRITES),
    ("fieldValidation", READS, ONLY_WRITES),
    ("fieldValidation", &[Write], "the object is validated before it is written"),
    ("follow", ALL, OF_SUBRESOURCES),
    ("force", READS, ONLY_WRITES),
    ("force", &[Write], "of server-side apply: it decides conflicts of field managers before the write"),
    ("gracePeriodSeconds", READS, ONLY_WRITES),
    ("gracePeriodSeconds", &[Write], "a grace period makes the deletion a Put, as stated"),
    ("includeObject", ALL, "it changes only the form of a Table"),
    ("labelSelector", &[Get], ONLY_VERSION),
    ("labelSelector", &[List], AFTER_READING),
    ("labelSelector", &[Watch], OF_EVENTS),
    ("labelSelector", &[Write], NOT_FOR_WRITES),
    ("limit", &[Get], ONLY_VERSION),
    ("limit", &[Watch], ONLY_LISTS),
    ("limit", &[Write], NOT_FOR_WRITES),
    ("limitBytes", ALL, OF_SUBRESOURCES),
    ("orphanDependents", READS, ONLY_WRITES),
    ("orphanDependents", &[Write], "finalizers make the deletion a Put, as stated"),
    ("pretty", ALL, "it changes only the form of the answer"),
    ("previous", ALL, OF_SUBRESOURCES),
    ("propagationPolicy", READS, ONLY_WRITES),
    ("propagationPolicy", &[Write], "finalizers make the deletion a Put, as stated"),
    ("resourceVersion", &[Write], NOT_FOR_WRITES),
    ("resourceVersionMatch", &[Get], ONLY_VERSION),
    ("resourceVersionMatch", &[Write], NOT_FOR_WRITES),
    ("sendInitialEvents", &[Get], ONLY_VERSION),
    ("sendInitialEvents", &[Write], NOT_FOR_WRITES),
    ("shardSelector", &[Get], ONLY_VERSION),
    ("shardSelector", &[Write], NOT_FOR_WRITES),
    ("shardSelector", &[List, Watch], "alpha from 1.36 on (gate ShardedListAndWatch); its effect on the layer was not read"),
    ("sinceSeconds", ALL, OF_SUBRESOURCES),
    ("sinceTime", ALL, OF_SUBRESOURCES),
    ("stderr", ALL, OF_SUBRESOURCES),
    ("stdin", ALL, OF_SUBRESOURCES),
    ("stdout", ALL, OF_SUBRESOURCES),
    ("tailLines", ALL, OF_SUBRESOURCES),
    ("timeout", &[Watch], "timeoutSeconds ends a watch, this does not"),
    ("timeout", &[Get, List, Write], "it limits only the duration of the request"),
    ("timeoutSeconds", &[Get], ONLY_VERSION),
    ("timeoutSeconds", &[List], ONLY_WATCHES),
    ("timeoutSeconds", &[Watch], "it limits only the duration of the watch"),
    ("timeoutSeconds", &[Write], NOT_FOR_WRITES),
    ("timestamps", ALL, OF_SUBRESOURCES),
    ("tty", ALL, OF_SUBRESOURCES),
    ("watch", &[Get], "a get of one object is never a watch"),
    ("watch", &[Write], NOT_FOR_WRITES),
];

/// Parameters that older servers ignore because they do not know them, with the first release that knows them.
const KNOWN_FROM: &[(&str, Release, &str)] = &[
    ("resourceVersionMatch", Release::new(19, 0), "known from 1.19 on"),
    ("sendInitialEvents", Release::new(27, 0), "known from 1.27 on"),
    ("shardSelector", Release::new(36, 0), "known from 1.36 on"),
];

/// The parameters of `query` (without `?`) that change no verdict on the request, in the order of the query. `version` is the
/// version of the server, if it is known. Values are never printed. The name of an unknown parameter is printed only if it has a
/// value and consists of letters, `-` and `_`.
pub fn ignored_parameters(info: &RequestInfo, query: &str, version: Option<&ServerVersion>) -> Vec<IgnoredParameter> {
    let asked = Asked { info, options: &ListOptions::parse(query), class: Class::of(info.verb), version };
    let mut seen = Vec::new();
    let mut found = Vec::new();
    let mut unnamed = 0_u32;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value)));
        let name = query::decode(name).into_owned();
        let is_known = is_known(&name);
        let reason = if query::is_well_formed(pair) {
            let reason = if seen.contains(&name) { Some(REPEATED.to_owned()) } else { asked.reason(&name) };
            seen.push(name.clone());
            reason
        } else {
            Some(MALFORMED.to_owned())
        };
        let Some(reason) = reason else { continue };
        if is_known || (value.is_some_and(|value| !value.is_empty()) && is_plain(&name)) {
            found.push(IgnoredParameter { name, reason });
        } else {
            unnamed += 1;
        }
    }
    if unnamed > 0 {
        let name = format!("{unnamed} more");
        found.push(IgnoredParameter { name, reason: "unknown or malformed; names that may be secret are not repeated".to_owned() });
    }
    found
}

const REPEATED: &str = "given before: only the first one counts";
const MALFORMED: &str = "it has a semicolon or a broken percent escape, so the API server drops it";

/// The facts that decide whether a rule reads a parameter.
struct Asked<'q> {
    info: &'q RequestInfo,
    options: &'q ListOptions,
    class: Class,
    version: Option<&'q ServerVersion>,
}

impl Asked<'_> {
    /// Why no rule reads the parameter; `None` if a rule reads it.
    fn reason(&self, name: &str) -> Option<String> {
        if !is_known(name) {
            return Some(unknown(name));
        }
        let is_older = |first: Release| self.version.is_some_and(|version| version.release() < first);
        if let Some((.., reason)) = KNOWN_FROM.iter().find(|(known, first, _)| *known == name && is_older(*first)) {
            return Some((*reason).to_owned());
        }
        if self.is_read(name) {
            return None;
        }
        let row = IGNORED.iter().find(|(known, classes, _)| *known == name && classes.contains(&self.class));
        row.map(|(.., reason)| (*reason).to_owned())
    }

    /// Whether a rule reads the parameter although the table has a row for it.
    fn is_read(&self, name: &str) -> bool {
        let options = self.options;
        let is_collection = matches!(self.class, List | Watch);
        match name {
            // The text of a number must be one: otherwise the request is refused.
            "limit" | "timeoutSeconds" => is_collection && options.undecodable,
            "continue" => self.class == Watch && options.resource_version_match != ResourceVersionMatch::Unset,
            "fieldSelector" => {
                let selects = |field| options.exact_field(field).is_some();
                is_collection && (!self.info.name.is_empty() || selects("metadata.name") || selects("metadata.namespace"))
            }
            "dryRun" => self.info.verb == Verb::DeleteCollection,
            _other => false,
        }
    }
}

impl Class {
    const fn of(verb: Verb) -> Self {
        match verb {
            Verb::Get => Get,
            Verb::List | Verb::DeleteCollection => List,
            Verb::Watch => Watch,
            Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::Proxy | Verb::Other => Write,
        }
    }
}

fn is_known(name: &str) -> bool {
    query::KEPT.contains(&name) || IGNORED.iter().any(|(known, ..)| *known == name)
}

/// Whether a name is unlikely to be a secret: it has at most [`MAX_NAME`] bytes, and all of them are letters, `-` or `_`.
fn is_plain(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_part)
}

/// The reason for an unknown name, with the known name that differs only in case, or in `_` and `-`.
fn unknown(name: &str) -> String {
    let letters = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
    let meant = query::KEPT.iter().find(|known| letters(known) == letters(name));
    let hint = meant.map(|known| format!("; did you mean {known}?")).unwrap_or_default();
    format!("unknown to the API server{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflector_requests_have_no_ignored_parameter_but_the_timeout() {
        check("GET /api/v1/pods?limit=500&resourceVersion=0", None, &[]);
        check(
            "GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=17&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=431&watch=true",
            None,
            &["timeoutSeconds: it limits only the duration of the watch"],
        );
    }

    #[test]
    fn parameters_of_form_and_of_other_verbs_are_named() {
        check(
            "GET /api/v1/pods?pretty=true&labelSelector=a%3Db&timeoutSeconds=5&dryRun=All",
            None,
            &[
                "pretty: it changes only the form of the answer",
                "labelSelector: applied after the objects are read; it changes the layer only while the watch cache is not ready",
                "timeoutSeconds: only watches have it",
                "dryRun: only writes have it",
            ],
        );
        check(
            "GET /api/v1/namespaces/d/pods/a?resourceVersion=0&limit=1&watch=true",
            None,
            &["limit: a get reads only resourceVersion", "watch: a get of one object is never a watch"],
        );
        check(
            "PATCH /api/v1/namespaces/d/pods/a?dryRun=All&fieldManager=x",
            None,
            &["fieldManager: it is recorded in metadata.managedFields only"],
        );
        check("DELETE /api/v1/namespaces/d/pods?dryRun=All&limit=5", None, &[]);
    }

    #[test]
    fn version_decides_whether_a_parameter_is_known() {
        let exact = "GET /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact";
        check(exact, Some("1.18.0"), &["resourceVersionMatch: known from 1.19 on"]);
        check(exact, Some("1.19.0"), &[]);
        check(exact, None, &[]);
        let shard = "GET /api/v1/pods?shardSelector=x";
        check(shard, Some("1.35.1"), &["shardSelector: known from 1.36 on"]);
        for version in [Some("1.36.0"), None] {
            check(
                shard,
                version,
                &["shardSelector: alpha from 1.36 on (gate ShardedListAndWatch); its effect on the layer was not read"],
            );
        }
        check("GET /api/v1/pods?watch=1&sendInitialEvents=true", Some("1.26.0"), &["sendInitialEvents: known from 1.27 on"]);
    }

    #[test]
    fn parameter_that_a_rule_reads_is_not_ignored() {
        check("GET /api/v1/pods?limit=x&watch=1", None, &[]);
        check("GET /api/v1/pods?limit=5&watch=1", None, &["limit: only lists have pages"]);
        check("GET /api/v1/pods?fieldSelector=metadata.name%3Da", None, &[]);
        check(
            "GET /api/v1/pods?fieldSelector=spec.nodeName%3Da&watch=1",
            None,
            &["fieldSelector: it selects events of the watch, and never changes the layer"],
        );
        check("GET /api/v1/pods?watch=1&continue=x", None, &["continue: only lists have pages"]);
        check("GET /api/v1/pods?watch=1&continue=x&resourceVersionMatch=Exact", None, &[]);
    }

    #[test]
    fn repeated_malformed_and_misspelt_parameters_are_named() {
        check(
            "GET /api/v1/pods?limit=1&limit=2&resource_version=0&LIMIT=3&foo=1&continue=%2",
            None,
            &[
                "limit: given before: only the first one counts",
                "resource_version: unknown to the API server; did you mean resourceVersion?",
                "LIMIT: unknown to the API server; did you mean limit?",
                "foo: unknown to the API server",
                "continue: it has a semicolon or a broken percent escape, so the API server drops it",
            ],
        );
    }

    #[test]
    fn nothing_that_may_be_a_secret_is_repeated() {
        let query = "c4n4ry&access_token=c4n4ry&x;c4n4ry=1&c4n4ry=c4n4ry&%63anary&canary==&a%00b=1&limit=1;token=c4n4ry&=c4n4ry";
        let info = RequestInfo::parse("GET", "/api/v1/pods", &ListOptions::parse(query), "");
        let ignored = ignored_parameters(&info, query, None);
        let shown = format!("{ignored:?}");
        assert!(!shown.contains("c4n4ry") && !shown.contains("%63") && !shown.contains('\0'), "{shown}");
        let names: Vec<&str> = ignored.iter().map(|parameter| parameter.name.as_str()).collect();
        assert_eq!(names, ["access_token", "canary", "limit", "6 more"]);
    }

    #[test]
    fn table_is_sorted_and_has_each_pair_once() {
        assert!(IGNORED.is_sorted_by_key(|(name, ..)| name));
        for (at, (name, classes, reason)) in IGNORED.iter().enumerate() {
            assert!(!reason.ends_with('.'), "{name}");
            let twice =
                |(other, others, _): &&(&str, &[Class], &str)| other == name && others.iter().any(|class| classes.contains(class));
            assert_eq!(IGNORED[at + 1..].iter().find(twice), None, "{name}");
        }
        for name in query::KEPT {
            assert!(["resourceVersion", "watch"].contains(name) || IGNORED.iter().any(|(known, ..)| known == name), "{name}");
        }
    }

    #[track_caller]
    fn check(request: &str, version: Option<&str>, expected: &[&str]) {
        let (method, url) = request.split_once(' ').unwrap();
        let (path, query) = url.split_once('?').unwrap();
        let info = RequestInfo::parse(method, path, &ListOptions::parse(query), "");
        let version = version.map(|version| version.parse().unwrap());
        let ignored = ignored_parameters(&info, query, version.as_ref());
        let shown: Vec<String> = ignored.into_iter().map(|parameter| format!("{}: {}", parameter.name, parameter.reason)).collect();
        assert_eq!(shown, expected, "{request}");
    }
}
