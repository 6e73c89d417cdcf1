//! Detects a client that does not read.

use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

use observer_core::time::Timestamp;
use tokio::time::{Instant, Sleep, sleep};

use super::tee::Tee;

/// A socket that is full for a shorter time is not worth reporting.
const REPORTED_AFTER: Duration = Duration::from_secs(1);

/// Whether the socket to a client is full, and for how long.
#[derive(Debug, Default)]
pub(super) enum ClientStall {
    /// The socket takes everything.
    #[default]
    Unneeded,
    /// The socket has been full since this time; the timer ends when that is to be reported.
    Waiting(Timestamp, Pin<Box<Sleep>>),
    /// The socket has been full for long enough to be reported.
    Reported,
}

impl ClientStall {
    /// Notes that the socket is full. `some_went` is whether it took bytes since the last call. Wakes the task when the stall is
    /// due to be reported.
    pub(super) fn wait(&mut self, context: &mut Context<'_>, tee: &mut Tee, some_went: bool) {
        let Some(now) = tee.now() else { return };
        match self {
            Self::Unneeded => *self = Self::Waiting(now, Box::pin(sleep(REPORTED_AFTER))),
            Self::Waiting(since, over) if some_went => {
                *since = now;
                over.as_mut().reset(Instant::now() + REPORTED_AFTER);
            }
            Self::Reported if some_went => {
                tee.client_blocked(None);
                *self = Self::Waiting(now, Box::pin(sleep(REPORTED_AFTER)));
            }
            Self::Waiting(..) | Self::Reported => {}
        }
        if let Self::Waiting(since, over) = self
            && over.as_mut().poll(context).is_ready()
        {
            tee.client_blocked(Some(*since));
            *self = Self::Reported;
        }
    }

    /// Notes that the socket has taken everything.
    pub(super) fn relax(&mut self, tee: &mut Tee) {
        if let Self::Reported = std::mem::take(self) {
            tee.client_blocked(None);
        }
    }
}
