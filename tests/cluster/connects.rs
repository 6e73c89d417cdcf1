//! Opens connections at a steady rate, and records the result of each.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

/// Time limit of a connect. It is longer than the proxy's limit for both handshakes, which is 10 s.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(15);

/// The result of a connect with TLS handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// TCP: connection refused.
    Refused,
    /// TCP accepted, then reset before the handshake was complete.
    Reset,
    /// The handshake completed.
    Served,
    /// TCP accepted, then closed by FIN before the handshake was complete.
    Ended,
    /// Any other error, such as a timeout.
    Failed(io::ErrorKind),
}

impl Outcome {
    fn of(failure: io::ErrorKind) -> Self {
        // The second kind is a reset that arrives before our `ClientHello` is written.
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

/// One attempt, with its start and end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connect {
    pub(crate) begun: Instant,
    pub(crate) ended: Instant,
    pub(crate) outcome: Outcome,
}

impl Connect {
    /// Connects, sends a `ClientHello` and waits for the end of the handshake. A TCP connect alone would not suffice: the proxy
    /// dials upstream only after it has read the `ClientHello`.
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
    // Only the handshake matters here, not whether the peer still reads.
    connection.complete_io(&mut socket).ok();
    Ok(())
}

/// Repeats an action at a steady pace in the background, each on its own thread, until finished or dropped.
pub(crate) struct Paced<T> {
    /// Sends the number of remaining repetitions.
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
                        // The receiver is gone if the test has failed.
                        thread::spawn(move || sender.send(action()).ok());
                        // If the machine stalls, the missed repetitions are skipped, so that no burst follows.
                        next = Instant::now().max(next + pace);
                        left = left.map(|left| left - 1);
                    }
                    Err(RecvTimeoutError::Disconnected) => left = Some(0),
                }
            }
        });
        Self { stop, results, seen: Vec::new() }
    }

    /// Continues until the results so far satisfy `enough`.
    #[track_caller]
    pub(crate) fn until(&mut self, enough: impl Fn(&[T]) -> bool) {
        while !enough(&self.seen) {
            let result = self.results.recv_timeout(GIVEN_UP_AFTER).expect("each attempt ends");
            self.seen.push(result);
        }
    }

    /// Repeats the action `more` times and waits for all results.
    pub(crate) fn finish_after(self, more: usize) -> Vec<T> {
        let Self { stop, results, mut seen } = self;
        // Kept until the last action has started; dropping it would cancel the remaining ones.
        stop.send(more).expect("the pace is kept until now");
        seen.extend(results);
        drop(stop);
        seen
    }
}
