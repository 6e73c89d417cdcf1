//! Lines of client-go's reflectors.

use observer_core::logs::{LoggedError, ReflectorLine, ReflectorLineEvent};

use super::content::{Content, kind_of};

const NOT_SHOWN: &[&str] = &[
    "the request, its resource version and its layer: the name of a reflector is a place in its code",
    "a 410 below -v=4, from client-go 0.18 on: without such a line, a relist may have happened all the same",
];

pub(super) fn of_reflector(line: &ReflectorLine) -> Content {
    let (meaning, error, items): (&str, Option<&LoggedError>, Option<u64>) = match &line.event {
        ReflectorLineEvent::CycleStarted => ("the reflector begins a cycle: it lists, or resumes its watch", None, None),
        ReflectorLineEvent::WatchExpired(error) => (
            "the watch ended because its resource version is too old, so the reflector relists (cause `expired`)",
            Some(error),
            None,
        ),
        ReflectorLineEvent::VeryShortWatch => {
            ("the watch lasted less than a second and delivered nothing; the reflector relists, or resumes", None, None)
        }
        ReflectorLineEvent::WatchFailed(error) => {
            ("the watch ended with an error; the reflector relists, or resumes", Some(error), None)
        }
        ReflectorLineEvent::TooManyRequests => {
            ("the API server answered the watch with 429; the reflector waits and resumes", None, None)
        }
        ReflectorLineEvent::WatchClosed { items } => ("the watch ended without an error; the reflector resumes it", None, *items),
        ReflectorLineEvent::ListFailed(error) => ("the list failed; the reflector repeats it after a pause", Some(error), None),
        ReflectorLineEvent::Synced => ("the first list of the cycle is complete: the informer has synced", None, None),
        ReflectorLineEvent::FellBackToList(error) => {
            ("the streaming list failed, so the reflector lists instead", error.as_ref(), None)
        }
        ReflectorLineEvent::BookmarkMissing => (
            "the bookmark that ends the initial events has not come: the informer has not synced (finding `never-synced`)",
            None,
            None,
        ),
    };
    let whose = if line.is_of_watch_cache() { "of kube-apiserver's own watch cache" } else { "" };
    Content { at: line.at, meaning: meaning.to_owned(), not_shown: NOT_SHOWN, ..Content::default() }
        .with("type", &*line.object_type)
        .with("reflector", &*line.reflector)
        .with("whose", whose)
        .with_some("error", error.map(kind_of))
        .with_some("delivered", items.map(|items| format!("{items} events")))
}
