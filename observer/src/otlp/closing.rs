//! The end of a run, as the tasks of the exporter see it.

use std::sync::Arc;
use std::time::Duration;

use observer_core::series::Samples;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::backoff::Pause;

/// The pause between attempts at the end of a run.
const PAUSE_AT_END: Duration = Duration::from_millis(100);

/// The rest of a run's data is to be sent now.
#[derive(Clone)]
pub(super) struct Closing {
    /// When sending ends.
    pub(super) deadline: Instant,
    /// The last numbers of metrics, if they are known.
    pub(super) last: Option<Arc<Samples>>,
}

/// Waits until the time for the rest has passed.
pub(super) async fn passed(mut closing: watch::Receiver<Option<Closing>>) {
    let deadline = closing.wait_for(Option::is_some).await.ok().and_then(|closing| Some(closing.as_ref()?.deadline));
    if let Some(deadline) = deadline {
        sleep_until(deadline).await;
    }
}

/// Waits before the next attempt. The end of a run shortens only what the collector did not ask for.
pub(super) async fn pause(Pause { asked, rest }: Pause, closing: &mut watch::Receiver<Option<Closing>>) {
    sleep(asked).await;
    if closing.borrow().is_some() {
        return sleep(rest.min(PAUSE_AT_END)).await;
    }
    tokio::select! {
        () = sleep(rest) => {}
        _closing = closing.wait_for(Option::is_some) => {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn end_of_a_run_shortens_what_the_collector_did_not_ask_for() {
        let day = Duration::from_hours(24);
        let (closing, mut until) = watch::channel(None);
        let waiting = async {
            let mut until = until.clone();
            pause(Pause { asked: Duration::ZERO, rest: day }, &mut until).await;
        };
        let ending = async {
            tokio::task::yield_now().await;
            closing.send_replace(Some(Closing { deadline: Instant::now() + day, last: None }));
        };
        timeout(Duration::from_mins(1), async { tokio::join!(waiting, ending) }).await.unwrap();
        timeout(Duration::from_mins(1), pause(Pause { asked: Duration::ZERO, rest: day }, &mut until)).await.unwrap();
        let asked = Pause { asked: day, rest: Duration::ZERO };
        assert!(timeout(PAUSE_AT_END, pause(asked, &mut until)).await.is_err());
    }
}
