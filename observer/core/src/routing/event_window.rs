//! The event window of a watch cache. It decides how old the revision of a new watch may be.

use std::time::Duration;

use super::history::SURELY_HELD;
use super::profile::ServerProfile;
use super::version::{Release, ServerVersion};
use crate::k8s::Resource;

/// The first release whose window grows (kubernetes/apiserver `pkg/storage/cacher/watch_cache.go`, `resizeCacheLocked`, v0.19 to
/// v0.37; until v0.18 its length is that of `--watch-cache-sizes` and `--default-watch-cache-size`).
const GROWS_SINCE: Release = Release::new(19, 0);
/// Maximum number of events in a window that grows, unless the server is configured to keep events for longer (the same file,
/// `defaultUpperBoundCapacity`).
const LARGEST: u64 = 100 * 1024;

/// How many events the watch cache of a resource keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventWindow {
    /// The server's version is unknown.
    #[default]
    Unknown,
    /// A fixed number, however old the events are.
    Fixed,
    /// The events of the last 75 s, at most 102 400.
    Grows,
    /// The resource has no watch cache: etcd answers its watches.
    Absent,
}

impl EventWindow {
    /// The window of `resource` on the server of `profile`.
    pub fn of(profile: &ServerProfile, resource: &Resource) -> Self {
        if !profile.is_cached(resource) {
            return Self::Absent;
        }
        match profile.version.as_ref().map(ServerVersion::release) {
            None => Self::Unknown,
            Some(release) if release < GROWS_SINCE => Self::Fixed,
            Some(_) => Self::Grows,
        }
    }

    /// Whether the window certainly reaches back to a revision of this age. `revisions_since` is the number of later revisions that
    /// the server has shown. At most that many events followed the revision.
    pub fn holds(self, age: Duration, revisions_since: u64) -> bool {
        match self {
            Self::Grows => age < SURELY_HELD && revisions_since < LARGEST,
            Self::Unknown | Self::Fixed | Self::Absent => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::Basis;

    #[test]
    fn event_window_grows_to_its_maximum_since_1_19() {
        let window = |version: &str| {
            let profile = ServerProfile::of_version(version.parse().unwrap(), Basis::Flag);
            EventWindow::of(&profile, &resource("pods"))
        };
        assert_eq!(
            (window("v1.18.20"), window("v1.19.0"), window("v1.36.1")),
            (EventWindow::Fixed, EventWindow::Grows, EventWindow::Grows)
        );
        let young = Duration::from_secs(74);
        assert!(EventWindow::Grows.holds(young, 102_399) && !EventWindow::Grows.holds(young, 102_400));
        assert!(!EventWindow::Grows.holds(SURELY_HELD, 0) && !EventWindow::Fixed.holds(young, 0));
    }

    #[test]
    fn window_is_unknown_without_a_watch_cache_or_version() {
        let unknown = ServerProfile::default();
        assert_eq!(EventWindow::of(&unknown, &resource("pods")), EventWindow::Unknown);
        assert_eq!(EventWindow::of(&unknown, &resource("events")), EventWindow::Absent);
        assert!(!EventWindow::Unknown.holds(Duration::ZERO, 0) && !EventWindow::Absent.holds(Duration::ZERO, 0));
    }

    fn resource(name: &str) -> Resource {
        Resource { group: String::new(), version: "v1".to_owned(), resource: name.to_owned() }
    }
}
