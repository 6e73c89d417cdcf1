//! Connects at a steady pace, and what became of each.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

/// Longer than the tap's own limit for both handshakes, which is 10 s.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(15);

/// What became of a client that connects and shakes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// TCP: connection refused.
    Refused,
    /// TCP accepted, and reset before the handshake was done.
    Reset,
    /// The handshake was done.
    Served,
    /// TCP accepted, and ended properly before the handshake was done.
    Ended,
    /// Anything else, a limit that passed for example.
    Failed(io::ErrorKind),
}

impl Outcome {
    fn of(failure: io::ErrorKind) -> Self {
        // The second kind of a reset is found where it comes before our ClientHello is written.
        let is_reset = [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe].contains(&failure);
        if failure == io::ErrorKind::ConnectionRefused {
            Self::Refused
        } else if is_reset {
            Self::Reset
        } else if failure == io::ErrorKind::UnexpectedEof {
            Self::Ended
        } else {
            Self::Failed(failure)
        }
    }
}

/// One attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connect {
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
    pub(crate) outcome: Outcome,
}

impl Connect {
    /// Connects, sends a `ClientHello` and waits for the end of the handshake. A bare connect would not do: a tap that mirrors what
    /// upstream does looks at upstream only when it has read the `ClientHello`.
    pub(crate) fn try_one(address: SocketAddr, tls: &Arc<ClientConfig>) -> Self {
        let begun = Instant::now();
        let outcome = handshake(address, tls).map_or_else(|error| Outcome::of(error.kind()), |()| Outcome::Served);
        Self { begun, ended: Instant::now(), outcome }
    }
}

fn handshake(address: SocketAddr, tls: &Arc<ClientConfig>) -> io::Result<()> {
    let mut connection = ClientConnection::new(Arc::clone(tls), ServerName::from(address.ip())).map_err(io::Error::other)?;
    let mut socket = TcpStream::connect_timeout(&address, GIVEN_UP_AFTER)?;
    socket.set_read_timeout(Some(GIVEN_UP_AFTER))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket)?;
    }
    connection.send_close_notify();
    // The handshake is what was asked for; whether the other side still reads does not matter.
    connection.complete_io(&mut socket).ok();
    Ok(())
}

/// The same thing done at a steady pace in the background, each time in a thread of its own, until finished or dropped.
pub(crate) struct Paced<T> {
    /// How often more.
    stop: SyncSender<usize>,
    results: Receiver<T>,
    seen: Vec<T>,
}

impl<T: Send + 'static> Paced<T> {
    pub(crate) fn start(pace: Duration, action: impl Fn() -> T + Clone + Send + 'static) -> Self {
        let (stop, stopped) = sync_channel(0);
        let (sender, results) = channel();
        thread::spawn(move || {
            let mut left = None;
            let mut next = Instant::now();
            while left != Some(0) {
                match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
                    Ok(more) => left = Some(more),
                    Err(RecvTimeoutError::Timeout) => {
                        let (action, sender) = (action.clone(), sender.clone());
                        // The receiver is gone when the test has failed.
                        thread::spawn(move || sender.send(action()).ok());
                        // Without catching up: what a stalled machine missed is not done in a burst.
                        next = Instant::now().max(next + pace);
                        left = left.map(|left| left - 1);
                    }
                    Err(RecvTimeoutError::Disconnected) => left = Some(0),
                }
            }
        });
        Self { stop, results, seen: Vec::new() }
    }

    /// Goes on until the results so far are `enough`.
    #[track_caller]
    pub(crate) fn until(&mut self, enough: impl Fn(&[T]) -> bool) {
        while !enough(&self.seen) {
            let result = self.results.recv_timeout(GIVEN_UP_AFTER).expect("each attempt ends");
            self.seen.push(result);
        }
    }

    /// Does it so many times more, and waits for what is under way.
    pub(crate) fn finish_after(self, more: usize) -> Vec<T> {
        let Self { stop, results, mut seen } = self;
        // Kept until the last has begun: without it the others would not begin.
        stop.send(more).expect("the pace is kept until now");
        seen.extend(results);
        drop(stop);
        seen
    }
}
