//! A hop in front of a server that can break connections as networks do. It forwards bytes and FINs, and does not terminate TLS.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{broadcast, watch};

use crate::ports::Port;

/// How the hop breaks connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// RST to both sides.
    Reset,
    /// FIN to both sides.
    Close,
    /// FIN to the client only, as if the server had finished sending; bytes from the client still pass.
    HalfClose,
}

/// The current faults of the hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Condition {
    /// Whether new connections are refused, because the hop does not listen.
    refuses: bool,
    /// Whether all bytes are held back, without an error on either side.
    silent: bool,
    /// Connections with a lower number are silent for ever, as dead ones are.
    dead_below: usize,
}

impl Condition {
    const fn is_silent(self, connection: usize) -> bool {
        self.silent || connection < self.dead_below
    }
}

/// A loopback listener that opens one connection to the target for each accepted connection.
#[derive(Debug)]
pub struct TcpHop {
    port: Port,
    condition: watch::Sender<Condition>,
    breaks: broadcast::Sender<Break>,
    accepted: Arc<AtomicUsize>,
    listening: watch::Receiver<bool>,
    runtime: Runtime,
}

impl TcpHop {
    /// Starts a hop to `target` that forwards everything.
    pub fn start(target: SocketAddr) -> Result<Self> {
        let port = Port::reserve()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("tcp-hop").enable_all().build()?;
        let address = (Ipv4Addr::LOCALHOST, port.number());
        let listener = runtime.block_on(TcpListener::bind(address)).context("cannot listen for a hop")?;
        let (condition, breaks) = (watch::Sender::new(Condition::default()), broadcast::Sender::new(16));
        let (accepted, (listens, listening)) = (Arc::default(), watch::channel(true));
        let listen =
            Listen { target, condition: condition.subscribe(), breaks: breaks.clone(), accepted: Arc::clone(&accepted), listens };
        runtime.spawn(listen.run(listener));
        Ok(Self { port, condition, breaks, accepted, listening, runtime })
    }

    /// Its listening address, unchanged after [`TcpHop::refuse`].
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port.number()).into()
    }

    /// The number of accepted connections so far.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Breaks all open connections.
    pub fn break_all(&self, how: Break) {
        // An error means only that no connection is open.
        self.breaks.send(how).ok();
    }

    /// Starts or stops refusing new connections, and waits until the change takes effect.
    pub fn refuse(&self, refuses: bool) {
        self.condition.send_modify(|condition| condition.refuses = refuses);
        let mut listening = self.listening.clone();
        // It fails when the hop has lost its port; then it refuses connections too.
        self.runtime.block_on(listening.wait_for(|listening| *listening != refuses)).ok();
    }

    /// Starts or stops holding back all bytes and FINs.
    pub fn silence(&self, silent: bool) {
        self.condition.send_modify(|condition| condition.silent = silent);
    }
}

impl TcpHop {
    /// Makes all open connections silent for ever. Later ones are not.
    pub fn silence_open_connections(&self) {
        let accepted = self.accepted();
        self.condition.send_modify(|condition| condition.dead_below = accepted);
    }
}

/// The accepting task.
struct Listen {
    target: SocketAddr,
    condition: watch::Receiver<Condition>,
    breaks: broadcast::Sender<Break>,
    accepted: Arc<AtomicUsize>,
    listens: watch::Sender<bool>,
}

impl Listen {
    async fn run(mut self, first: TcpListener) {
        let Ok(address) = first.local_addr() else { return };
        let mut listener = Some(first);
        loop {
            if self.condition.borrow_and_update().refuses {
                listener = None;
            } else if listener.is_none() {
                listener = TcpListener::bind(address).await.ok();
            }
            self.listens.send_replace(listener.is_some());
            tokio::select! {
                accepted = accept(listener.as_ref()) => {
                    if let Some(client) = accepted {
                        let number = self.accepted.fetch_add(1, Ordering::Relaxed);
                        let condition = (number, self.condition.clone());
                        tokio::spawn(connection(client, self.target, condition, self.breaks.subscribe()));
                    }
                }
                changed = self.condition.changed() => if changed.is_err() { return },
            }
        }
    }
}

async fn accept(listener: Option<&TcpListener>) -> Option<TcpStream> {
    match listener {
        Some(listener) => listener.accept().await.ok().map(|(client, _)| client),
        None => std::future::pending().await,
    }
}

async fn connection(
    mut client: TcpStream,
    target: SocketAddr,
    condition: (usize, watch::Receiver<Condition>),
    mut breaks: broadcast::Receiver<Break>,
) -> io::Result<()> {
    let Ok(mut server) = TcpStream::connect(target).await else {
        // The client is already accepted, so a refusal is no longer possible.
        return reset(&client);
    };
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let how = {
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        let both = async {
            tokio::try_join!(pass(from_client, to_server, condition.clone()), pass(from_server, to_client, condition.clone()))
                .map(drop)
        };
        tokio::select! {
            how = breaks.recv() => how.unwrap_or(Break::Close),
            ended = both => match ended {
                Ok(()) => return Ok(()),
                Err(_) => Break::Reset,
            },
        }
    };
    match how {
        Break::Reset => reset(&client).and(reset(&server)),
        Break::Close => {
            client.shutdown().await?;
            server.shutdown().await?;
            // Unread bytes would make the kernel send RST.
            let (mut nowhere, mut nowhere_else) = (sink(), sink());
            tokio::try_join!(copy(&mut client, &mut nowhere), copy(&mut server, &mut nowhere_else)).map(drop)
        }
        Break::HalfClose => {
            client.shutdown().await?;
            let ((from_client, _), (mut from_server, to_server)) = (client.split(), server.split());
            let mut nowhere = sink();
            let unheard = async { copy(&mut from_server, &mut nowhere).await.map(drop) };
            tokio::try_join!(pass(from_client, to_server, condition), unheard).map(drop)
        }
    }
}

/// Forwards the bytes of one direction, and its FIN.
async fn pass(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    (number, mut condition): (usize, watch::Receiver<Condition>),
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        condition.wait_for(|condition| !condition.is_silent(number)).await.map_err(io::Error::other)?;
        let read = tokio::select! {
            read = from.read(&mut buffer) => read?,
            _ = condition.changed() => continue,
        };
        let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { return to.shutdown().await };
        condition.wait_for(|condition| !condition.is_silent(number)).await.map_err(io::Error::other)?;
        to.write_all(bytes).await?;
    }
}

/// The kernel sends RST when the socket is dropped.
fn reset(stream: &TcpStream) -> io::Result<()> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use super::{Break, TcpHop};

    #[test]
    fn bytes_and_half_closes_are_forwarded() {
        let (mut client, mut server, _hop) = connected();
        client.write_all(b"question").unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        server.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"question");
        server.write_all(b"answer").unwrap();
        drop(server);
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"answer");
    }

    #[test]
    fn connections_break_in_the_requested_manner() {
        let (mut client, mut server, hop) = connected();
        hop.break_all(Break::Reset);
        assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(server.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);

        let (mut client, mut server, hop) = connected();
        hop.break_all(Break::Close);
        assert_eq!((client.read(&mut [0]).unwrap(), server.read(&mut [0]).unwrap()), (0, 0));

        let (mut client, mut server, hop) = connected();
        hop.break_all(Break::HalfClose);
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
        client.write_all(b"still").unwrap();
        let mut heard = [0; 5];
        server.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"still");
    }

    #[test]
    fn bytes_held_during_silence_arrive_afterwards() {
        const MOMENT: Duration = Duration::from_millis(100);
        let (mut client, mut server, hop) = connected();
        hop.silence(true);
        client.write_all(b"x").unwrap();
        server.set_read_timeout(Some(MOMENT)).unwrap();
        assert_eq!(server.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        hop.silence(false);
        server.set_read_timeout(None).unwrap();
        assert_eq!(server.read(&mut [0]).unwrap(), 1);
    }

    #[test]
    fn refusal_affects_only_new_connections() {
        let (mut client, mut server, hop) = connected();
        hop.refuse(true);
        assert_eq!(TcpStream::connect(hop.address()).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        client.write_all(b"x").unwrap();
        assert_eq!(server.read(&mut [0]).unwrap(), 1, "the old one lives");

        hop.refuse(false);
        TcpStream::connect(hop.address()).unwrap();
        client.write_all(b"y").unwrap();
        assert_eq!(server.read(&mut [0]).unwrap(), 1, "the old one still lives");
    }

    fn connected() -> (TcpStream, TcpStream, TcpHop) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let hop = TcpHop::start(listener.local_addr().unwrap()).unwrap();
        let mut client = TcpStream::connect(hop.address()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        // A connection subscribes to breaks only after it has forwarded a byte.
        client.write_all(b"0").unwrap();
        server.read_exact(&mut [0]).unwrap();
        // A second thread accepts later connections and keeps them open.
        std::thread::spawn(move || listener.incoming().flatten().collect::<Vec<_>>());
        (client, server, hop)
    }
}
