//! Faults that tests ask for by the namespace of a request, to show that the traffic goes on. A build without the feature `injected-faults` has
//! none of this, and a release build cannot have it.

#[cfg(all(feature = "injected-faults", not(debug_assertions)))]
compile_error!("`injected-faults` lets every client bring observing down: it is for tests, and no release build may carry it");

/// Who fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The decoder of one connection, at the bytes of a request in namespace `fault-in-decoder`.
    Decoder,
    /// The owner of all state, at a request in namespace `fault-in-observer`.
    Observer,
    /// A view of single events, at one about namespace `fault-in-view`.
    View,
    /// The report, if a request in namespace `fault-in-report` is in it.
    Report,
}

/// Panics where `place` comes upon its namespace, in words that hold all of `seen`, as the worst of panics would.
#[cfg(feature = "injected-faults")]
pub(crate) fn strike(place: Place, seen: &impl std::fmt::Debug) {
    let mark = match place {
        Place::Decoder => "fault-in-decoder",
        Place::Observer => "fault-in-observer",
        Place::View => "fault-in-view",
        Place::Report => "fault-in-report",
    };
    let seen = format!("{seen:?}");
    assert!(!seen.contains(mark), "{place:?}: {seen}");
}

/// Nothing.
#[cfg(not(feature = "injected-faults"))]
pub(crate) const fn strike(_place: Place, _seen: &impl std::fmt::Debug) {}
