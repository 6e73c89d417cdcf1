//! The stream of a watch, event by event.

use std::time::Duration;

use bytes::BytesMut;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::answer::WatchLine;
use crate::clock::Clock;

/// Maximum size of an event, in bytes.
const LONGEST_EVENT: usize = 16 << 20;

/// An open watch.
pub(super) struct Watching {
    body: Incoming,
    unread: BytesMut,
    began: Duration,
    events: u64,
}

impl Watching {
    pub(super) fn new(body: Incoming, clock: &Clock) -> Self {
        Self { body, unread: BytesMut::new(), began: clock.now(), events: 0 }
    }

    /// Returns the next event, or `None` at the end. A broken connection counts as an ordinary end, as in client-go.
    pub(super) async fn next(&mut self) -> Option<WatchLine> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line = self.unread.split_to(end + 1);
                self.events += 1;
                return serde_json::from_slice(&line).ok();
            }
            let data = self.body.frame().await?.ok()?.into_data().ok()?;
            self.unread.extend_from_slice(&data);
            if self.unread.len() > LONGEST_EVENT {
                return None;
            }
        }
    }

    /// Whether it lasted less than a second, without any event.
    pub(super) fn was_very_short(&self, clock: &Clock) -> bool {
        self.events == 0 && clock.now().saturating_sub(self.began) < Duration::from_secs(1)
    }
}
