//! How long the end of a run waits for what is not decoded yet.
//!
//! Up to 64 MiB may wait in the intake when the last connection closes. What is not decoded by the deadline is passed to the decoders as missing:
//! it is counted, and each connection has its end.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use observer_core::http::Gap;

use crate::intake::{Delivery, TapEvent};

/// How long decoding may take after the last connection has closed. The intake holds less than is decoded in that time.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The deadline of a run: unset as long as its connections are open.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline(Arc<OnceLock<Instant>>);

impl Deadline {
    /// Sets it, once.
    pub(super) fn set(&self, patience: Duration) {
        self.0.get_or_init(|| Instant::now() + patience);
    }

    /// Whether it is over.
    pub(super) fn has_passed(&self) -> bool {
        self.0.get().is_some_and(|deadline| Instant::now() >= *deadline)
    }
}

/// Bytes that are not decoded any more.
#[derive(Debug, Default)]
pub(super) struct Undecoded {
    bytes: u64,
}

impl Undecoded {
    /// A gap in the place of bytes; other deliveries are passed on.
    pub(super) fn instead_of(&mut self, delivery: &Delivery) -> Option<Delivery> {
        let Delivery::Connection(id, TapEvent::Bytes { at, direction, bytes }) = delivery else { return None };
        let length = bytes.len() as u64;
        self.bytes = self.bytes.saturating_add(length);
        let gap = Gap { stream: None, length };
        Some(Delivery::Connection(*id, TapEvent::Gap { at: *at, direction: *direction, gap }))
    }

    /// What to report of them, if there are any.
    pub(super) fn trouble(&self) -> Option<String> {
        let Self { bytes } = *self;
        (bytes > 0).then(|| {
            let seconds = PATIENCE.as_secs();
            format!("decoding was stopped {seconds} s after the last connection closed: {bytes} bytes were not decoded and count as missed")
        })
    }
}
