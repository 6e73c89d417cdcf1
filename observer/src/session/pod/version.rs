//! The version of the API server during the life of a pod, which may be longer than that of the version.

use std::time::Duration;

use observer_core::routing::{ServerProfile, ServerVersion};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::tap::proxy::ListenerState;

/// When the API server is asked again.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct Pauses {
    /// After the first failure. Each further failure doubles it.
    first: Duration,
    /// Maximum time between two requests after failures.
    longest: Duration,
    /// After an answer. An upgrade of the control plane usually restarts the API server, which shows at the listener. Behind a load
    /// balancer, it does not.
    known: Duration,
}

impl Pauses {
    /// So rare that an API server in trouble does not notice them, even from many pods.
    pub(in crate::session) const USUAL: Self =
        Self { first: Duration::from_secs(10), longest: Duration::from_mins(10), known: Duration::from_hours(24) };
}

/// Asks again until the version differs from `known`, and returns the new profile. `ask` returns `None` if the version stays
/// unknown. `states` are those of the listener: the API server may have been replaced when it accepts connections again.
pub(in crate::session) async fn next_profile<A: Future<Output = Option<ServerProfile>>>(
    known: Option<&ServerVersion>,
    pauses: Pauses,
    states: &mut watch::Receiver<ListenerState>,
    mut ask: impl FnMut() -> A,
) -> ServerProfile {
    let mut failures = u32::from(known.is_none());
    loop {
        let pause = match failures {
            0 => pauses.known,
            failures => pauses.first.saturating_mul(2_u32.saturating_pow(failures - 1)).min(pauses.longest),
        };
        tokio::select! {
            () = sleep(pause) => {}
            () = reopened(states) => {}
        }
        match ask().await {
            Some(profile) if profile.version.as_ref() != known => return profile,
            Some(_same) => failures = 0,
            None => failures = failures.saturating_add(1),
        }
    }
}

/// Waits until the listener accepts connections again. Cancel-safe.
async fn reopened(states: &mut watch::Receiver<ListenerState>) {
    while states.changed().await.is_ok() {
        if *states.borrow_and_update() == ListenerState::Listening {
            return;
        }
    }
    std::future::pending::<()>().await;
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{Ready, ready};

    use observer_core::routing::Basis;
    use tokio::time::timeout;

    use super::*;

    /// Longer than any test takes.
    const NEVER: Duration = Duration::from_hours(1);

    fn profile(version: &str) -> ServerProfile {
        ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint)
    }

    #[tokio::test]
    async fn unknown_version_is_asked_for_until_it_is_known() {
        let (_listener, mut states) = watch::channel(ListenerState::Listening);
        let asked = Cell::new(0);
        let ask = || {
            asked.set(asked.get() + 1);
            ready((asked.get() == 4).then(|| profile("v1.34.4")))
        };
        let milli = Duration::from_millis(1);
        let pauses = Pauses { first: milli, longest: 2 * milli, known: NEVER };
        let found = next_profile(None, pauses, &mut states, ask).await;
        assert_eq!((found, asked.get()), (profile("v1.34.4"), 4));
    }

    #[tokio::test]
    async fn version_is_asked_for_again_when_the_api_server_is_back() {
        let (listener, mut states) = watch::channel(ListenerState::Listening);
        let known = profile("v1.33.0").version;
        let asked = Cell::new(0);
        let ask = || {
            asked.set(asked.get() + 1);
            ready(Some(profile(if asked.get() == 1 { "v1.33.0" } else { "v1.34.4" })))
        };
        let pauses = Pauses { first: NEVER, longest: NEVER, known: NEVER };
        let outages = async {
            while asked.get() < 2 {
                listener.send_replace(ListenerState::Refusing);
                tokio::task::yield_now().await;
                listener.send_replace(ListenerState::Listening);
                tokio::task::yield_now().await;
            }
        };
        let (found, ()) = tokio::join!(next_profile(known.as_ref(), pauses, &mut states, ask), outages);
        assert_eq!(found, profile("v1.34.4"), "the same version is no news");
    }

    #[tokio::test]
    async fn known_version_is_rarely_asked_for() {
        let (listener, mut states) = watch::channel(ListenerState::Listening);
        listener.send_replace(ListenerState::Refusing);
        let known = profile("v1.33.0").version;
        let pauses = Pauses { first: Duration::ZERO, longest: Duration::ZERO, known: NEVER };
        let asked = next_profile(known.as_ref(), pauses, &mut states, || -> Ready<Option<ServerProfile>> { panic!("it is asked") });
        timeout(Duration::from_millis(50), asked).await.unwrap_err();
    }
}
