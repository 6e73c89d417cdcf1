//! Query strings: the parameters of Kubernetes, and how Go parses them.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The parameters that watchtap needs: `ListOptions`, and those that change an answer's form. All others are dropped at once,
/// because a client may put a credential there.
pub const KEPT: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "dryRun",
    "fieldManager",
    "fieldSelector",
    "force",
    "includeObject",
    "labelSelector",
    "limit",
    "pretty",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeout",
    "timeoutSeconds",
    "watch",
];

/// The parameters of `query` that are [`KEPT`], in order and as sent, and the number of dropped ones.
pub fn keep_known(query: &str) -> (String, u32) {
    let mut kept = String::new();
    let mut dropped = 0_u32;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or_default();
        if KEPT.contains(&decode(name).as_ref()) {
            if !kept.is_empty() {
                kept.push('&');
            }
            kept.push_str(pair);
        } else {
            dropped = dropped.saturating_add(1);
        }
    }
    (kept, dropped)
}

/// The first value of `name`, decoded as by Go's `url.ParseQuery`; `Some("")` if it is present without a value.
///
/// As in Go's parser, a pair with a broken percent escape or a semicolon is dropped.
pub fn first<'q>(query: &'q str, name: &str) -> Option<Cow<'q, str>> {
    pairs(query).find(|(key, _)| decode(key) == name).map(|(_, value)| decode(value))
}

/// The pairs that Go's parser keeps, as sent: names and values.
pub(super) fn pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty() && is_well_formed(pair));
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Percent and plus decoding; invalid UTF-8 becomes U+FFFD.
pub fn decode(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'%' | b'+')) {
        return Cow::Borrowed(text);
    }
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned());
    }
    percent_decode_str(text).decode_utf8_lossy()
}

/// Whether Go's parser keeps `pair`: it has no semicolon, and its percent escapes are complete.
pub fn is_well_formed(pair: &str) -> bool {
    if !pair.bytes().any(|byte| matches!(byte, b'%' | b';')) {
        return true;
    }
    let escapes_whole = pair
        .as_bytes()
        .split(|byte| *byte == b'%')
        .skip(1)
        .all(|tail| tail.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)));
    escapes_whole && !pair.contains(';')
}
