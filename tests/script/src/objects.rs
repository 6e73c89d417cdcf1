//! Requests and bodies in the words of a script.

use observer_core::http::{Identity, TraceParent};
use observer_core::k8s::{ListOptions, RequestInfo, Status, StatusCause};
use observer_core::observation::RequestLine;
use observer_core::wire::{EventType, ObjectRef, WatchFrame};

use crate::wire::Client;

pub(crate) fn request(method: &str, url: &str, client: Client) -> RequestLine {
    const TOKEN_OF_10: &str = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAsInN0YXJ0IjoiZGVmYXVsdC94XHUwMDAwIn0";
    let url = url.replace("continue=@10", &format!("continue={TOKEN_OF_10}"));
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let options = ListOptions::parse(query);
    let info = RequestInfo::parse(method, path, &options, "");
    let identity = client.service_account.map(|(namespace, name)| Identity::ServiceAccount { namespace, name });
    RequestLine {
        method: Some(method.to_owned()),
        info: Some(info),
        options,
        user_agent: client.user_agent,
        identity,
        ..RequestLine::default()
    }
}

/// `in=TRACEPARENT`, or nothing.
pub(crate) fn traceparent(words: &[&str]) -> Option<Box<TraceParent>> {
    let [word] = words else {
        assert!(words.is_empty(), "not one trace: {words:?}");
        return None;
    };
    let value = word.strip_prefix("in=").and_then(|value| TraceParent::parse(value.as_bytes()));
    Some(Box::new(value.unwrap_or_else(|| panic!("no trace: {word:?}"))))
}

/// The status of `CODE REASON`, with what `rest` adds.
pub(crate) fn status(code: &str, reason: &str, rest: &[&str]) -> Status {
    let causes = if rest.contains(&"too-large") {
        vec![StatusCause { reason: "ResourceVersionTooLarge".to_owned(), ..StatusCause::default() }]
    } else {
        Vec::new()
    };
    let current = rest.iter().find_map(|word| word.strip_prefix("current="));
    let message = current.map_or_else(String::new, |current| format!("Timeout: Too large resource version: 1, current: {current}"));
    Status { code: number(code), reason: reason.to_owned(), message, causes, ..Status::default() }
}

pub(crate) fn event_type(word: &str) -> EventType {
    match word {
        "ADDED" => EventType::Added,
        "MODIFIED" => EventType::Modified,
        "DELETED" => EventType::Deleted,
        "BOOKMARK" => EventType::Bookmark,
        "UNKNOWN" => EventType::Unknown,
        other => panic!("no such event: {other}"),
    }
}

pub(crate) fn frame(event_type: EventType, object: ObjectRef) -> WatchFrame {
    WatchFrame { event_type, object, initial_events_end: false, status: None, bytes: 100 }
}

/// The objects of `NAME@VERSION`, or of `NAME*COUNT@VERSION`.
pub(crate) fn objects(words: &str) -> Vec<ObjectRef> {
    let Some((name, rest)) = words.split_once('*') else { return vec![object(words)] };
    let (count, version) = rest.split_once('@').unwrap_or_else(|| panic!("no version: {words:?}"));
    (0..number::<u32>(count)).map(|one| object(&format!("{name}{one}@{version}"))).collect()
}

/// `NAME@VERSION`.
pub(crate) fn object(words: &str) -> ObjectRef {
    let (name, version) = words.split_once('@').unwrap_or_else(|| panic!("no version: {words:?}"));
    let namespace = if name.is_empty() { String::new() } else { "default".to_owned() };
    ObjectRef { namespace, name: name.to_owned(), uid: String::new(), resource_version: version.to_owned() }
}

pub(crate) fn number<N: std::str::FromStr>(text: &str) -> N {
    text.parse().unwrap_or_else(|_error| panic!("not a number: {text:?}"))
}
