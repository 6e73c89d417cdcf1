//! The time limit of decoding at the end of a run.
//!
//! Up to 64 MiB may wait in the intake when the last connection closes. After the deadline, remaining bytes are passed to the
//! decoders as gaps. So they are counted, and each connection is still closed in order.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use observer_core::http::Gap;

use crate::intake::{Delivery, TapEvent};

/// Time limit for decoding after the last connection has closed. Decoding a full intake takes less.
pub(super) const DECODING_LIMIT: Duration = Duration::from_secs(5);

/// The deadline of a run; unset while its connections are open.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadline(Arc<OnceLock<Instant>>);

impl Deadline {
    /// Sets it to `limit` from now; only the first call has an effect.
    pub(super) fn set(&self, limit: Duration) {
        self.0.get_or_init(|| Instant::now() + limit);
    }

    /// Whether it has passed; false while it is unset.
    pub(super) fn has_passed(&self) -> bool {
        self.0.get().is_some_and(|deadline| Instant::now() >= *deadline)
    }
}

/// Counts bytes that are not decoded any more.
#[derive(Debug, Default)]
pub(super) struct Undecoded {
    bytes: u64,
}

impl Undecoded {
    /// Returns a gap in place of bytes, or `None` for other deliveries, which are passed on unchanged.
    pub(super) fn instead_of(&mut self, delivery: &Delivery) -> Option<Delivery> {
        let Delivery::Connection(id, TapEvent::Bytes { at, direction, bytes }) = delivery else { return None };
        let length = bytes.len() as u64;
        self.bytes = self.bytes.saturating_add(length);
        let gap = Gap { stream: None, length };
        Some(Delivery::Connection(*id, TapEvent::Gap { at: *at, direction: *direction, gap }))
    }

    /// The problem to report, if any bytes were not decoded.
    pub(super) fn trouble(&self) -> Option<String> {
        let Self { bytes } = *self;
        (bytes > 0).then(|| {
            let seconds = DECODING_LIMIT.as_secs();
            format!(
                "decoding stopped {seconds} s after the last connection closed; {bytes} bytes were not decoded and count as \
                missed"
            )
        })
    }
}
