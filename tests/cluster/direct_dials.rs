//! Dials the API server directly, to find out when the server itself refuses connections.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const PACE: Duration = Duration::from_millis(2);
/// Time limit of every wait. Stopping and starting the server takes seconds.
const GIVEN_UP_AFTER: Duration = Duration::from_mins(4);

/// The start and the end of a dial. Its result was true at some time in between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dial {
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
}

/// The interval in which the API server refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusalSeen {
    /// The first refused dial.
    pub(crate) first: Dial,
    /// The last refused dial.
    pub(crate) last: Dial,
    /// The first accepted dial after it.
    pub(crate) accepted: Dial,
}

/// Dials continuously, until the server has refused connections and then accepts them again.
pub(crate) struct DirectDials {
    first_refused: std::sync::mpsc::Receiver<Dial>,
    thread: JoinHandle<RefusalSeen>,
}

impl DirectDials {
    pub(crate) fn start(address: SocketAddr) -> Self {
        let (sender, first_refused) = std::sync::mpsc::sync_channel(1);
        let thread = thread::spawn(move || {
            let first = dial_until(address, Found::Refused).0;
            // The caller may not wait for it.
            sender.send(first).ok();
            let (accepted, before) = dial_until(address, Found::Accepted);
            RefusalSeen { first, last: before.unwrap_or(first), accepted }
        });
        Self { first_refused, thread }
    }

    /// Waits until the server refuses.
    #[track_caller]
    pub(crate) fn refused(&self) {
        self.first_refused.recv().expect("the server refuses after it was stopped");
    }

    /// Waits until the server accepts again.
    #[track_caller]
    pub(crate) fn accepted(self) -> RefusalSeen {
        self.thread.join().expect("the server refuses, and accepts again")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Accepted,
    Refused,
}

/// Dials until a dial has this result. Returns that dial and the one before it.
fn dial_until(address: SocketAddr, wanted: Found) -> (Dial, Option<Dial>) {
    let started = Instant::now();
    let mut before = None;
    loop {
        let begun = Instant::now();
        let found = match TcpStream::connect(address) {
            Ok(_) => Some(Found::Accepted),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Some(Found::Refused),
            // Accepted, and reset before `connect` returned: the server is just exiting.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{address} neither accepts nor refuses: {error}"),
        };
        let dial = Dial { begun, ended: Instant::now() };
        if found == Some(wanted) {
            return (dial, before);
        }
        before = Some(dial);
        assert!(started.elapsed() < GIVEN_UP_AFTER, "{address} is not {wanted:?} after {GIVEN_UP_AFTER:?}");
        thread::sleep(PACE);
    }
}
