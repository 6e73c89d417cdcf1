//! The hop itself.

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

/// What one connection carried.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Passed {
    /// The protocol that the target chose of those that the client offered.
    pub protocol: Option<String>,
    /// From the client to the target.
    pub request: Flow,
    /// From the target to the client.
    pub response: Flow,
}

/// A listener on loopback that ends TLS on both sides: it offers upstream what the client offers and lets it have what the target
/// chooses. There is one upstream connection for each client connection.
#[derive(Debug)]
pub struct Hop {
    address: SocketAddr,
    authority: String,
    stop: oneshot::Sender<()>,
    accepting: JoinHandle<Vec<Passed>>,
    runtime: Runtime,
}

impl Hop {
    /// Starts a hop to `target`, whose certificate is vouched for by `trusted` (PEM).
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Who vouches for its certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.authority
    }

    /// Accepts no more connections and waits until those that there are have ended on both sides.
    ///
    /// The connections in an order of their contents, so that those of two hops can be compared. One that broke off in a handshake carried
    /// nothing and is left out.
    pub fn finish(self) -> Result<Vec<Passed>> {
        const LIMIT: Duration = Duration::from_secs(20);
        // Fails if the accepting task has panicked, which the next line tells.
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

/// What one direction has carried so far.
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
