//! Faults that tests ask for by the namespace of a request, to show that the traffic goes on. A build without the feature `injected-faults` has
//! none of this, and a release build cannot have it.

#[cfg(all(feature = "injected-faults", not(debug_assertions)))]
compile_error!("`injected-faults` lets every client bring observing down: it is for tests, and no release build may carry it");

/// Who fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The decoder of one connection, at the bytes of a request in namespace `fault-in-decoder`.
    Decoder,
    /// The decoder of one connection, at its end, where the path of the server's URL is `fault-in-close`.
    Close,
    /// The owner of all state, at a request in namespace `fault-in-observer`.
    Observer,
    /// A view of single events, at one about namespace `fault-in-view`.
    View,
    /// The page, if a request in namespace `fault-in-page` is in what it shows.
    Page,
    /// The report, if a request in namespace `fault-in-report` is in it.
    Report,
}

/// Panics where `place` comes upon its namespace, as the worst of panics would: in words that hold all of `seen`, and all that decoders were
/// given until then.
///
/// The words go into the file that `FAULTY_WATCHTAP_WORDS` names, too: whoever seeks them elsewhere can see that there was something to find.
#[cfg(feature = "injected-faults")]
pub(crate) fn strike(place: Place, seen: &impl std::fmt::Debug) {
    use std::sync::{Mutex, PoisonError};

    static DECODED: Mutex<String> = Mutex::new(String::new());
    let mark = match place {
        Place::Decoder => "fault-in-decoder",
        Place::Close => "fault-in-close",
        Place::Observer => "fault-in-observer",
        Place::View => "fault-in-view",
        Place::Page => "fault-in-page",
        Place::Report => "fault-in-report",
    };
    let seen = format!("{seen:?}");
    let mut decoded = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(place, Place::Decoder) {
        decoded.push_str(&seen);
    }
    if seen.contains(mark) {
        let words = format!("{place:?}: {seen}, behind {decoded}");
        drop(decoded);
        if let Some(file) = std::env::var_os("FAULTY_WATCHTAP_WORDS") {
            std::fs::write(file, &words).ok();
        }
        panic!("{words}");
    }
}

/// Nothing.
#[cfg(not(feature = "injected-faults"))]
pub(crate) const fn strike(_place: Place, _seen: &impl std::fmt::Debug) {}
