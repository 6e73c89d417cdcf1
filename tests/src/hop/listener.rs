//! The hop's listener and its results.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use super::connection::{Ends, Greeted};
use super::flow::{End, Flow, Seen};
use crate::digest::Hasher;

/// The traffic of one connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Passed {
    /// The ALPN protocol that the target chose from the client's offer.
    pub protocol: Option<String>,
    /// From the client to the target.
    pub request: Flow,
    /// From the target to the client.
    pub response: Flow,
}

/// A loopback listener that terminates TLS on both sides. It offers the client's ALPN protocols upstream and gives the client the
/// target's choice. Each client connection has one upstream connection.
#[derive(Debug)]
pub struct Hop {
    address: SocketAddr,
    authority: String,
    stop: oneshot::Sender<()>,
    accepting: JoinHandle<Vec<Passed>>,
    runtime: Runtime,
}

impl Hop {
    /// Starts a hop to `target`, whose certificate `trusted` (PEM) signed.
    pub fn start(target: SocketAddr, trusted: &str) -> Result<Self> {
        let (ends, authority) = Ends::to(target, trusted)?;
        let ends = Arc::new(ends);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("hop").enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let accepting = runtime.spawn(accept_all(listener, ends, stopped));
        Ok(Self { address, authority, stop, accepting, runtime })
    }

    /// Its listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA that signed its certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.authority
    }

    /// Stops accepting and waits until all open connections have ended on both sides.
    ///
    /// The connections are sorted by their contents, so those of two hops can be compared. A connection that failed in its
    /// handshake carried no data and is left out.
    pub fn finish(self) -> Result<Vec<Passed>> {
        const LIMIT: Duration = Duration::from_secs(20);
        // It fails only if the accepting task has panicked; the next line reports that.
        self.stop.send(()).ok();
        let ended = self.runtime.block_on(async { tokio::time::timeout(LIMIT, self.accepting).await });
        let mut passed = ended.with_context(|| format!("connections are still open after {LIMIT:?}"))??;
        passed.sort();
        Ok(passed)
    }
}

async fn accept_all(listener: TcpListener, ends: Arc<Ends>, mut stop: oneshot::Receiver<()>) -> Vec<Passed> {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let ends = Arc::clone(&ends);
                if let Ok((client, _)) = accepted {
                    connections.spawn(async move { pass(&ends, client).await });
                }
            }
            _ = &mut stop => break,
        }
    }
    drop(listener);
    connections.join_all().await.into_iter().flatten().collect()
}

async fn pass(ends: &Ends, client: TcpStream) -> Result<Passed> {
    let joined = ends.join(ends.reach(Greeted::by(client).await?).await?).await?;
    let protocol = joined.protocol.clone();
    let (mut request, mut response) = (Measured::default(), Measured::default());
    joined.pass(|seen| request.note(seen), |seen| response.note(seen)).await;
    Ok(Passed { protocol, request: request.finish(), response: response.finish() })
}

/// Running measurement of one direction.
#[derive(Default)]
struct Measured {
    plaintext: Hasher,
    end: Option<End>,
}

impl Measured {
    fn note(&mut self, seen: Seen<'_>) {
        match seen {
            Seen::Bytes(bytes) => self.plaintext.update(bytes),
            Seen::End(end) => self.end = Some(end),
        }
    }

    fn finish(self) -> Flow {
        Flow { plaintext: self.plaintext.finish(), end: self.end.unwrap_or(End::Cut) }
    }
}
