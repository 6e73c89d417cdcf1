//! Bounds the memory that clients hold before their `ClientHello` is complete.
//!
//! Until then a client is unknown, and nothing is dialled for it, except at its CONNECT request. A `ClientHello` may be 64 KB long,
//! and may take as long as the handshake limit allows. So the number of incomplete `ClientHello`s is bounded, and so are their
//! bytes, over all listeners of the process:
//!
//! - At [`MAX_OPEN`] incomplete `ClientHello`s, the next client waits in the kernel's accept queue, as it does when no descriptors
//!   are free. A `ClientHello` is one flight, so a genuine client completes it within a round trip. If the oldest `ClientHello` is
//!   older than [`SLOW`], its client is reset.
//! - Above [`MAX_BYTES`], the client with the longest `ClientHello` is reset. This client is not genuine, since a real
//!   `ClientHello` has some 500 to 4 000 bytes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Maximum number of clients with an incomplete `ClientHello`. Each costs some 12 KiB before its first byte.
const MAX_OPEN: usize = 512;
/// Maximum number of bytes of all incomplete `ClientHello`s together.
const MAX_BYTES: usize = 4 << 20;
/// Age of an incomplete `ClientHello` from which its client may be reset, to make room for the next one.
const SLOW: Duration = Duration::from_secs(1);

/// The incomplete `ClientHello`s of all listeners. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Hellos(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    open: Mutex<Open>,
    /// Notified when a `ClientHello` is complete or given up.
    left: Notify,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    /// By number, and so in the order in which they began.
    hellos: BTreeMap<u64, State>,
    bytes: usize,
}

#[derive(Debug)]
struct State {
    since: Instant,
    bytes: usize,
    reset: Arc<Notify>,
    is_reset: bool,
}

/// Whether there is room for another client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    Free,
    /// Full. The oldest `ClientHello` becomes slow at this time, and its client may then be reset.
    FullUntil(Instant),
    /// Full until a `ClientHello` is complete or given up.
    Full,
}

/// One incomplete `ClientHello`, until this is dropped.
#[derive(Debug)]
pub(super) struct Hello {
    all: Hellos,
    number: u64,
    reset: Arc<Notify>,
}

impl Hellos {
    /// Registers another incomplete `ClientHello` without a check for room; see [`Self::room`].
    pub(super) fn begin(&self) -> Hello {
        let reset = Arc::new(Notify::new());
        let mut open = self.open();
        let number = open.next;
        open.next += 1;
        let state = State { since: Instant::now(), bytes: 0, reset: Arc::clone(&reset), is_reset: false };
        open.hellos.insert(number, state);
        Hello { all: self.clone(), number, reset }
    }

    /// Waits until there is room for another `ClientHello`. Meanwhile requests the reset of the oldest one once it is slow.
    /// Cancel-safe.
    pub(super) async fn room(&self) {
        loop {
            let left = self.0.left.notified();
            match self.make_room(Instant::now()) {
                Room::Free => return,
                Room::FullUntil(slow_at) => {
                    tokio::select! {
                        () = left => {}
                        () = sleep_until(slow_at) => {}
                    }
                }
                Room::Full => left.await,
            }
        }
    }

    /// Returns whether there is room. If not, requests the reset of the oldest `ClientHello` if it is slow.
    fn make_room(&self, now: Instant) -> Room {
        let mut open = self.open();
        if open.hellos.len() < MAX_OPEN {
            return Room::Free;
        }
        let Some(oldest) = open.hellos.values_mut().find(|hello| !hello.is_reset) else { return Room::Full };
        let slow_at = oldest.since + SLOW;
        if slow_at > now {
            return Room::FullUntil(slow_at);
        }
        let bytes = oldest.reset();
        open.bytes -= bytes;
        Room::Full
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Requests the reset of its client. Returns the number of bytes that become free.
    fn reset(&mut self) -> usize {
        self.is_reset = true;
        self.reset.notify_one();
        std::mem::take(&mut self.bytes)
    }
}

impl Hello {
    /// Adds `bytes` to this `ClientHello`. If all together have more than [`MAX_BYTES`], requests the reset of the largest.
    pub(super) fn note(&self, bytes: usize) {
        let Open { hellos, bytes: all, .. } = &mut *self.all.open();
        let Some(hello) = hellos.get_mut(&self.number).filter(|hello| !hello.is_reset) else { return };
        hello.bytes += bytes;
        *all += bytes;
        if *all > MAX_BYTES
            && let Some(largest) = hellos.values_mut().max_by_key(|hello| hello.bytes)
        {
            *all -= largest.reset();
        }
    }

    /// Waits until the reset of its client is requested, to make room for others.
    pub(super) async fn is_to_be_reset(&self) {
        self.reset.notified().await;
    }
}

impl Drop for Hello {
    fn drop(&mut self) {
        let mut open = self.all.open();
        if let Some(hello) = open.hellos.remove(&self.number) {
            open.bytes -= hello.bytes;
        }
        drop(open);
        // Several listeners may wait for room.
        self.all.0.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn next_client_waits_until_a_client_hello_completes() {
        let hellos = Hellos::default();
        let mut open: Vec<Hello> = (0..MAX_OPEN).map(|_| hellos.begin()).collect();
        assert!(timeout(Duration::ZERO, hellos.room()).await.is_err(), "there was room");
        open.pop();
        assert!(timeout(Duration::ZERO, hellos.room()).await.is_ok(), "there was none");
    }

    #[tokio::test]
    async fn only_the_oldest_slow_client_hello_is_reset() {
        let (hellos, start) = (Hellos::default(), Instant::now());
        let oldest = hellos.begin();
        let younger: Vec<Hello> = (1..MAX_OPEN).map(|_| hellos.begin()).collect();
        assert!(matches!(hellos.make_room(start), Room::FullUntil(_)), "none is slow yet");
        assert!(!is_to_be_reset(&oldest).await);
        assert_eq!(hellos.make_room(Instant::now() + SLOW), Room::Full, "there is room only when its memory is free");
        assert!(is_to_be_reset(&oldest).await && !is_to_be_reset(younger.first().unwrap()).await);
        drop(oldest);
        assert_eq!(hellos.make_room(start), Room::Free);
    }

    #[tokio::test]
    async fn largest_client_hello_is_reset_above_the_byte_limit() {
        const SMALL: usize = 1000;
        let hellos = Hellos::default();
        let (small, large) = (hellos.begin(), hellos.begin());
        large.note(MAX_BYTES - SMALL);
        small.note(SMALL);
        assert!(!is_to_be_reset(&large).await, "there was room for both");
        small.note(1);
        assert!(is_to_be_reset(&large).await && !is_to_be_reset(&small).await);
        drop(large);
        assert_eq!(hellos.open().bytes, SMALL + 1);
    }

    async fn is_to_be_reset(hello: &Hello) -> bool {
        timeout(Duration::ZERO, hello.is_to_be_reset()).await.is_ok()
    }
}
