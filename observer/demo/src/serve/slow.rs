//! Bodies that are sent slowly, as over a slow network.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::body::ResponseBody;
use crate::faults::Pace;

/// Pause between two parts of a body.
const STEP: Duration = Duration::from_millis(50);

/// Sends `body` at a pace, and at full speed when the pace is over.
pub(super) fn slowed(body: ResponseBody, pace: Pace) -> ResponseBody {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send(body, pace, sender));
    ResponseBody::Stream(receiver)
}

async fn send(mut body: ResponseBody, pace: Pace, sender: mpsc::Sender<Bytes>) {
    let each_step = pace.bytes_per_second.saturating_mul(u64::try_from(STEP.as_millis()).unwrap_or(u64::MAX)) / 1_000;
    let each_step = usize::try_from(each_step).unwrap_or(usize::MAX).max(1);
    loop {
        let next = tokio::select! {
            next = body.next() => next,
            () = sender.closed() => return,
        };
        let Some(mut part) = next else { return };
        while !part.is_empty() {
            let is_over = Instant::now() >= pace.until;
            let size = if is_over { part.len() } else { part.len().min(each_step) };
            if sender.send(part.split_to(size)).await.is_err() {
                return;
            }
            if !is_over {
                sleep(STEP).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn body_is_sent_at_a_pace_and_then_at_full_speed() {
        let lasting = STEP * 6;
        let until = Instant::now() + lasting;
        let mut body = slowed(ResponseBody::full(vec![7; 1_000_000]), Pace { bytes_per_second: 10_000, until });
        let (mut early, mut all) = (0, 0);
        while let Some(part) = body.next().await {
            all += part.len();
            if Instant::now() < until {
                early += part.len();
            }
        }
        assert_eq!(all, 1_000_000, "nothing is lost");
        assert!((500..=3_500).contains(&early), "{early} bytes in {lasting:?}");
        assert!(Instant::now() >= until);
    }
}
