//! Panics that tests cause on purpose, by the namespace in a request, to check that traffic continues. Only a build with the
//! feature `injected-faults` contains them, and a release build cannot have this feature.

#[cfg(all(feature = "injected-faults", not(debug_assertions)))]
compile_error!("`injected-faults` lets every client crash observing: it is for tests only, never for release builds");

/// The component that panics, and the text that causes the panic.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Component {
    /// The decoder of one connection, at the bytes of a request in namespace `fault-in-decoder`.
    Decoder,
    /// The decoder of one connection, when the connection closes, if the path of the server's URL is `fault-in-close`.
    Close,
    /// The Observer, at a request in namespace `fault-in-observer`.
    Observer,
    /// A view of single events, at an event about namespace `fault-in-view`.
    View,
    /// The page, if it shows a request in namespace `fault-in-page`.
    Page,
    /// The report, if it contains a request in namespace `fault-in-report`.
    Report,
}

/// Panics if `seen` contains the text for `component`. The panic message is the worst case for secrets: it contains all of `seen`,
/// and all bytes that the decoders have received so far.
///
/// The message is also written to the file that `FAULTY_WATCHTAP_WORDS` names. With it, a test can check that the message existed,
/// and that no other output contains it.
#[cfg(feature = "injected-faults")]
pub(crate) fn inject(component: Component, seen: &impl std::fmt::Debug) {
    use std::sync::{Mutex, PoisonError};

    static DECODED: Mutex<String> = Mutex::new(String::new());
    let mark = match component {
        Component::Decoder => "fault-in-decoder",
        Component::Close => "fault-in-close",
        Component::Observer => "fault-in-observer",
        Component::View => "fault-in-view",
        Component::Page => "fault-in-page",
        Component::Report => "fault-in-report",
    };
    let seen = format!("{seen:?}");
    let mut decoded = DECODED.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(component, Component::Decoder) {
        decoded.push_str(&seen);
    }
    if seen.contains(mark) {
        let words = format!("{component:?}: {seen}, behind {decoded}");
        drop(decoded);
        if let Some(file) = std::env::var_os("FAULTY_WATCHTAP_WORDS") {
            std::fs::write(file, &words).ok();
        }
        panic!("{words}");
    }
}

/// Does nothing: this build has no injected faults.
#[cfg(not(feature = "injected-faults"))]
pub(crate) const fn inject(_component: Component, _seen: &impl std::fmt::Debug) {}
