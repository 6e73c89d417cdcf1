//! All causes of relists, and those that a name stands for.

use super::cause::{RelistCause, Stale, UnknownCause, watch_error, watch_refused};
use super::cause_label::cause_label;

/// All causes without a status code, in the order in which they are decided.
pub(super) const WITHOUT_CODE: [RelistCause; 24] = [
    RelistCause::Unknown { reason: UnknownCause::NotObserved },
    RelistCause::TooLargeResourceVersion,
    RelistCause::ContinueExpired,
    RelistCause::ListExpired,
    RelistCause::Expired { because: Stale::CacheReset },
    RelistCause::Expired { because: Stale::WindowPassed },
    RelistCause::Expired { because: Stale::ClientStalled },
    RelistCause::Expired { because: Stale::BookmarksNotRequested },
    RelistCause::Expired { because: Stale::NoBookmarks },
    RelistCause::Expired { because: Stale::Unknown },
    RelistCause::TooManyRequests,
    RelistCause::VeryShortWatch,
    RelistCause::Unknown { reason: UnknownCause::ByWatchtap },
    RelistCause::NewProcess,
    RelistCause::WatchWithoutRevision,
    RelistCause::Rebuilt,
    RelistCause::Unknown { reason: UnknownCause::Cancelled },
    RelistCause::RefusedMisread,
    RelistCause::Unknown { reason: UnknownCause::AfterRefusal },
    RelistCause::ClosedByForce,
    RelistCause::StreamReset,
    RelistCause::ConnectionLost,
    RelistCause::Unknown { reason: UnknownCause::WatchEndedNormally },
    RelistCause::Unknown { reason: UnknownCause::EndNotLogged },
];

/// First part of the identifier of [`RelistCause::WatchError`]; the code of the `ERROR` event follows.
const WATCH_ERROR: &str = "watch-error";
/// First part of the identifier of [`RelistCause::WatchRefused`]; the HTTP status follows.
const WATCH_REFUSED: &str = "watch-refused";
/// Names that stand for several causes: the first part of the identifiers of these causes.
const GROUPS: [&str; 2] = ["expired", "unknown"];

/// A cause that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCause {
    /// The cause. Its status code is 0 if the name had none.
    pub cause: RelistCause,
    /// Whether it is a cause with a status code, and the name had none.
    pub is_of_any_code: bool,
}

/// The causes that `name` stands for: one for an identifier, several for the first part of identifiers, such as `expired`. Empty if
/// no cause has this name.
pub fn causes_named(name: &str) -> Vec<NamedCause> {
    if let Some(cause) = with_code(name) {
        return vec![cause];
    }
    let is_meant = |cause: &RelistCause| {
        let id = cause.id();
        id == name || (GROUPS.contains(&name) && id.split('/').next() == Some(name))
    };
    WITHOUT_CODE.into_iter().filter(is_meant).map(NamedCause::from).collect()
}

/// All names that [`causes_named`] takes, except those with a status code.
pub fn cause_names() -> impl Iterator<Item = String> {
    let groups = GROUPS.into_iter().chain([WATCH_ERROR, WATCH_REFUSED]).map(str::to_owned);
    WITHOUT_CODE.into_iter().map(RelistCause::id).chain(groups)
}

/// The cause of `watch-error`, `watch-error/500`, `watch-refused` or `watch-refused/403`.
fn with_code(name: &str) -> Option<NamedCause> {
    let (first, code) = match name.split_once('/') {
        Some((first, code)) => (first, Some(code.parse().ok()?)),
        None => (name, None),
    };
    let (is_of_any_code, code) = (code.is_none(), code.unwrap_or_default());
    let cause = match first {
        WATCH_ERROR => RelistCause::WatchError { code },
        WATCH_REFUSED => RelistCause::WatchRefused { status: code },
        _other => return None,
    };
    Some(NamedCause { cause, is_of_any_code })
}

impl NamedCause {
    /// As [`RelistCause::id`]; without a status code, it ends in `/CODE` or `/STATUS`.
    pub fn id(self) -> String {
        match (self.is_of_any_code, self.cause) {
            (true, RelistCause::WatchError { .. }) => format!("{WATCH_ERROR}/CODE"),
            (true, RelistCause::WatchRefused { .. }) => format!("{WATCH_REFUSED}/STATUS"),
            (_, cause) => cause.id(),
        }
    }

    /// The short label of tables.
    pub fn label(self) -> String {
        cause_label(&self.id())
    }

    /// As [`RelistCause::sentence`].
    pub fn sentence(self) -> String {
        match (self.is_of_any_code, self.cause) {
            (true, RelistCause::WatchError { .. }) => watch_error("CODE"),
            (true, RelistCause::WatchRefused { .. }) => watch_refused("a STATUS"),
            (_, cause) => cause.sentence(),
        }
    }
}

impl From<RelistCause> for NamedCause {
    fn from(cause: RelistCause) -> Self {
        Self { cause, is_of_any_code: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_causes() {
        for name in cause_names() {
            let causes = causes_named(&name);
            assert!(!causes.is_empty(), "{name}");
            assert!(causes.iter().all(|cause| cause.label() != cause.id() && !cause.sentence().is_empty()), "{name}");
        }
        for other in ["", "expire", "expired/", "expired/x", "watch-error/", "watch-error/x", "watch-error/99999", "new-process/1"]
        {
            assert_eq!(causes_named(other), [], "{other}");
        }
    }

    #[test]
    fn first_part_stands_for_all_reasons() {
        let ids = |name| causes_named(name).into_iter().map(NamedCause::id).collect::<Vec<_>>();
        assert_eq!(ids("expired").len(), 6);
        assert_eq!(ids("unknown").len(), 6);
        assert_eq!(ids("expired/no-bookmarks"), ["expired/no-bookmarks"]);
    }

    #[test]
    fn status_code_is_optional() {
        let sentence = |name| causes_named(name).into_iter().map(|cause| (cause.id(), cause.sentence())).next();
        let expected = |id: &str, sentence: &str| Some((id.to_owned(), sentence.to_owned()));
        assert_eq!(sentence("watch-error/500"), expected("watch-error/500", "the watch ended with an ERROR event of code 500"));
        assert_eq!(sentence("watch-error"), expected("watch-error/CODE", "the watch ended with an ERROR event of code CODE"));
        assert_eq!(sentence("watch-refused"), expected("watch-refused/STATUS", "the watch was refused with a STATUS"));
    }
}
