//! The parameters of a list or watch.
//!
//! Upstream: kubernetes/apimachinery pkg/apis/meta/v1/types.go `ListOptions`, and pkg/runtime/converter.go, which converts text to
//! values.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::continue_token::{ContinueToken, InvalidContinueToken};
use super::query;

/// Longest selector that is kept, in bytes; the rest is cut off.
const MAX_SELECTOR: usize = 1024;

/// The `resourceVersion` parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceVersion {
    /// Not given, or empty.
    #[default]
    Unset,
    /// `0`: any state is acceptable.
    Any,
    /// A revision.
    At(u64),
    /// Text that is not a number: the server answers 400.
    Invalid,
}

impl ResourceVersion {
    /// The revision in a `resourceVersion` of `metadata`; `None` if it is not a number, or 0.
    pub fn number(text: &str) -> Option<u64> {
        Self::parse(text).revision()
    }

    /// The revision; `None` for all other variants.
    pub const fn revision(self) -> Option<u64> {
        match self {
            Self::At(revision) => Some(revision),
            Self::Unset | Self::Any | Self::Invalid => None,
        }
    }

    /// Reads the text of a `resourceVersion`, as a parameter or in `metadata`.
    pub fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::Unset;
        }
        match text.parse() {
            Ok(0) => Self::Any,
            Ok(revision) => Self::At(revision),
            Err(_) => Self::Invalid,
        }
    }
}

/// The `resourceVersionMatch` parameter (1.19 and later).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ResourceVersionMatch {
    /// Not given, or empty.
    #[default]
    Unset,
    /// Exactly the given revision.
    Exact,
    /// The given revision or a later one.
    NotOlderThan,
    /// Any other text: the server answers 422.
    Invalid,
}

/// The options of a list, watch, get (of which only `resourceVersion` counts) or deletecollection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListOptions {
    /// The requested state.
    pub resource_version: ResourceVersion,
    /// How to interpret `resource_version`.
    pub resource_version_match: ResourceVersionMatch,
    /// Maximum number of items in the answer; 0 means no limit. Negative values count as 0, as in the storage layer.
    pub limit: u64,
    /// The `continue` parameter, decoded.
    pub continue_token: Continue,
    /// The truth of the `watch` parameter (also if the verb is not watch).
    pub watch: bool,
    /// `sendInitialEvents`; `None` if not given.
    pub send_initial_events: Option<bool>,
    /// `allowWatchBookmarks`; `false` if not given.
    pub allow_watch_bookmarks: bool,
    /// `timeoutSeconds`; `None` if not given.
    pub timeout_seconds: Option<i64>,
    /// `labelSelector`, cut at 1 KiB.
    pub label_selector: String,
    /// `fieldSelector`, cut at 1 KiB.
    pub field_selector: String,
    /// `shardSelector` (1.36 alpha), cut at 1 KiB.
    pub shard_selector: String,
    /// Whether a parameter cannot be decoded (such as a limit that is not a number): the server answers 400.
    pub undecodable: bool,
}

/// The `continue` parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Continue {
    /// Not given, or empty.
    #[default]
    Unset,
    /// A valid token of the API server.
    Token(ContinueToken),
    /// Text that the API server answers with 400.
    Invalid,
}

/// The first value of each parameter in a query.
#[derive(Default)]
struct Parameters<'q> {
    resource_version: Option<Cow<'q, str>>,
    resource_version_match: Option<Cow<'q, str>>,
    limit: Option<Cow<'q, str>>,
    continue_token: Option<Cow<'q, str>>,
    watch: Option<Cow<'q, str>>,
    send_initial_events: Option<Cow<'q, str>>,
    allow_watch_bookmarks: Option<Cow<'q, str>>,
    timeout_seconds: Option<Cow<'q, str>>,
    label_selector: Option<Cow<'q, str>>,
    field_selector: Option<Cow<'q, str>>,
    shard_selector: Option<Cow<'q, str>>,
}

impl<'q> Parameters<'q> {
    /// Reads the query once, since there is one for each request.
    fn of(query_string: &'q str) -> Self {
        let mut parameters = Self::default();
        for (name, value) in query::pairs(query_string) {
            let place = match &*query::decode(name) {
                "resourceVersion" => &mut parameters.resource_version,
                "resourceVersionMatch" => &mut parameters.resource_version_match,
                "limit" => &mut parameters.limit,
                "continue" => &mut parameters.continue_token,
                "watch" => &mut parameters.watch,
                "sendInitialEvents" => &mut parameters.send_initial_events,
                "allowWatchBookmarks" => &mut parameters.allow_watch_bookmarks,
                "timeoutSeconds" => &mut parameters.timeout_seconds,
                "labelSelector" => &mut parameters.label_selector,
                "fieldSelector" => &mut parameters.field_selector,
                "shardSelector" => &mut parameters.shard_selector,
                _other => continue,
            };
            place.get_or_insert_with(|| query::decode(value));
        }
        parameters
    }
}

impl ListOptions {
    /// Longest selector that is kept, in bytes.
    pub const MAX_SELECTOR: usize = MAX_SELECTOR;

    /// Reads a query string (without `?`).
    pub fn parse(query_string: &str) -> Self {
        if query_string.is_empty() {
            return Self::default();
        }
        let Parameters {
            resource_version,
            resource_version_match,
            limit,
            continue_token,
            watch,
            send_initial_events,
            allow_watch_bookmarks,
            timeout_seconds,
            label_selector,
            field_selector,
            shard_selector,
        } = Parameters::of(query_string);
        let mut undecodable = false;
        let mut number = |digits: Option<Cow<'_, str>>| {
            let parsed: Option<i64> = digits?.parse().ok();
            undecodable |= parsed.is_none();
            parsed
        };
        let limit = number(limit).and_then(|limit| u64::try_from(limit).ok()).unwrap_or(0);
        let timeout_seconds = number(timeout_seconds);
        Self {
            resource_version: ResourceVersion::parse(&resource_version.unwrap_or_default()),
            resource_version_match: match resource_version_match.as_deref() {
                None | Some("") => ResourceVersionMatch::Unset,
                Some("Exact") => ResourceVersionMatch::Exact,
                Some("NotOlderThan") => ResourceVersionMatch::NotOlderThan,
                Some(_other) => ResourceVersionMatch::Invalid,
            },
            limit,
            continue_token: Continue::parse(&continue_token.unwrap_or_default()),
            watch: watch.is_some_and(|value| is_true(&value)),
            send_initial_events: send_initial_events.map(|value| is_true(&value)),
            allow_watch_bookmarks: allow_watch_bookmarks.is_some_and(|value| is_true(&value)),
            timeout_seconds,
            label_selector: cut(label_selector.unwrap_or_default()),
            field_selector: cut(field_selector.unwrap_or_default()),
            shard_selector: cut(shard_selector.unwrap_or_default()),
            undecodable,
        }
    }

    /// Whether a list with these options shows exactly the revision that it names. With a limit, this is the default meaning of a
    /// revision (kubernetes/apiserver pkg/storage/etcd3/store.go `GetList`, v0.16 to v0.37).
    pub fn is_exact(&self) -> bool {
        let by_limit = self.limit > 0 && self.resource_version_match == ResourceVersionMatch::Unset;
        let is_named = matches!(self.resource_version, ResourceVersion::At(_));
        is_named && (by_limit || self.resource_version_match == ResourceVersionMatch::Exact)
    }

    /// Whether a list with these options shows the newest state of etcd.
    pub fn asks_for_newest(&self) -> bool {
        self.resource_version == ResourceVersion::Unset && self.continue_token == Continue::Unset
    }

    /// Whether a watch with these options begins with all existing objects, as events: the client asks for them, or names no
    /// revision (kubernetes/apiserver pkg/storage/cacher/cacher.go `Watch`, v0.16 to v0.37).
    pub fn begins_with_state(&self) -> bool {
        let names_none = matches!(self.resource_version, ResourceVersion::Unset | ResourceVersion::Any);
        self.watch && self.send_initial_events.unwrap_or(names_none)
    }

    /// Whether the initial events of such a watch end with a bookmark. Without one, nothing in the stream marks their end.
    pub fn ends_state_with_bookmark(&self) -> bool {
        self.watch && self.send_initial_events == Some(true)
    }

    /// The value that the field selector requires of `field`; `None` unless it requires exactly one (kubernetes/apimachinery
    /// pkg/fields/selector.go `RequiresExactMatch`).
    pub fn exact_field(&self, field: &str) -> Option<String> {
        split_terms(&self.field_selector).into_iter().find_map(|term| {
            let (name, value) = equality(term)?;
            (name == field).then(|| unescape(value))
        })
    }
}

impl Continue {
    fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::Unset;
        }
        let decoded: Result<_, InvalidContinueToken> = ContinueToken::decode(text);
        decoded.map_or(Self::Invalid, Self::Token)
    }
}

/// The truth of a boolean parameter that is present. Only `0` and `false` (in any case) are false, so an empty one is true
/// (kubernetes/apimachinery pkg/runtime/converter.go `Convert_Slice_string_To_bool`).
fn is_true(value: &str) -> bool {
    !(value == "0" || value.eq_ignore_ascii_case("false"))
}

fn cut(text: Cow<'_, str>) -> String {
    let mut text = text.into_owned();
    if text.len() > MAX_SELECTOR {
        let end = (0..=MAX_SELECTOR).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

/// The terms of a selector, split at commas that no backslash escapes.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, character) in selector.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.extend(selector.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.extend(selector.get(start..));
    terms
}

/// The two sides of `field=value` or `field==value`; `None` for `!=` and for terms without an operator.
fn equality(term: &str) -> Option<(&str, &str)> {
    let operator = term.find('=')?;
    if term.get(..operator)?.ends_with('!') {
        return None;
    }
    let value = term.get(operator + 1..)?;
    Some((term.get(..operator)?, value.strip_prefix('=').unwrap_or(value)))
}

fn unescape(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut escaped = false;
    for character in value.chars() {
        if character == '\\' && !escaped {
            escaped = true;
        } else {
            escaped = false;
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflector_list_and_watch_are_read_completely() {
        let list = ListOptions::parse("limit=500&resourceVersion=0");
        assert_eq!((list.limit, list.resource_version), (500, ResourceVersion::Any));
        let watch = ListOptions::parse(
            "allowWatchBookmarks=true&resourceVersion=17&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=431&watch=true",
        );
        assert!(watch.watch && watch.allow_watch_bookmarks);
        assert_eq!(watch.resource_version, ResourceVersion::At(17));
        assert_eq!(watch.resource_version_match, ResourceVersionMatch::NotOlderThan);
        assert_eq!((watch.send_initial_events, watch.timeout_seconds), (Some(true), Some(431)));
    }

    #[test]
    fn booleans_are_true_unless_zero_or_false() {
        for (query, expected) in [
            ("watch=true", true),
            ("watch=1", true),
            ("watch", true),
            ("watch=", true),
            ("watch=no", true),
            ("watch=0", false),
            ("watch=False", false),
            ("", false),
            ("watch=0&watch=1", false),
        ] {
            assert_eq!(ListOptions::parse(query).watch, expected, "{query}");
        }
    }

    #[test]
    fn invalid_option_values_are_distinguished() {
        assert_eq!(ListOptions::parse("resourceVersion=abc").resource_version, ResourceVersion::Invalid);
        assert_eq!(ListOptions::parse("resourceVersion=99999999999999999999").resource_version, ResourceVersion::Invalid);
        assert!(ListOptions::parse("limit=ten").undecodable);
        assert_eq!(ListOptions::parse("limit=-1").limit, 0);
        assert_eq!(ListOptions::parse("continue=%21").continue_token, Continue::Invalid);
    }

    #[test]
    fn exact_field_follows_upstream_selector_syntax() {
        for (selector, expected) in [
            ("metadata.name=x", Some("x")),
            ("metadata.name==x", Some("x")),
            ("spec.nodeName=n,metadata.name=x", Some("x")),
            ("metadata.name!=x", None),
            ("metadata.name", None),
            (r"metadata.name=a\,b", Some("a,b")),
            (r"spec.x=a\,metadata.name=b", None),
            ("", None),
        ] {
            let options = ListOptions { field_selector: selector.to_owned(), ..ListOptions::default() };
            assert_eq!(options.exact_field("metadata.name").as_deref(), expected, "{selector}");
        }
    }
}
