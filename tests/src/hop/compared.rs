//! Two hops with watchtap between them; every byte is compared on arrival.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use anyhow::{Context, Result, bail};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use super::connection::{Ends, Greeted};
use super::flow::Seen;
use super::passage::{Carried, Of, Passage};

/// One hop on each side of watchtap: `before` faces the clients, `behind` faces the API server. Each hop must receive exactly the
/// bytes that the other sent. A direction may end only after the other hop has ended it.
///
/// The hop `before` adds an ALPN protocol with a number to each connection's offer. watchtap passes the offer on, so `behind` can
/// find the matching connection. watchtap must open no connection of its own (`--server-version`, `--no-metrics-request`).
#[derive(Debug)]
pub struct ComparedHops {
    behind: Listening,
    shared: Arc<Shared>,
    runtime: Runtime,
}

/// Prefix of the ALPN protocol that contains a connection's number. No real protocol begins with it.
const MARK: &[u8] = b"hop/";

/// Address and CA of one hop.
#[derive(Clone, Debug)]
pub struct Listening {
    /// Address on loopback.
    pub address: SocketAddr,
    /// The CA that signed its certificate, PEM.
    pub authority: String,
}

/// Totals of all ended connections.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Connections that both hops saw.
    pub connections: u64,
    /// The number of those that delivered every byte in both directions.
    pub whole: u64,
    /// From clients to the server.
    pub request: Carried,
    /// From the server to clients.
    pub response: Carried,
    /// The first error found.
    pub wrong: Option<String>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Connections that `behind` has not seen yet, by number.
    numbered: Mutex<HashMap<u64, Arc<Tracked>>>,
    numbers: AtomicU64,
    /// Open connections.
    living: Mutex<Vec<Weak<Tracked>>>,
    /// Set while the test breaks connections between the hops.
    breaking: Arc<AtomicBool>,
    tally: Arc<Mutex<Tally>>,
    sockets: AtomicUsize,
}

/// A connection that both hops share. When both have dropped it, it enters the tally.
#[derive(Debug)]
struct Tracked {
    passage: Mutex<Passage>,
    breaking: Arc<AtomicBool>,
    tally: Arc<Mutex<Tally>>,
}

impl ComparedHops {
    /// Starts the hop `behind`, to a `target` whose certificate `trusted` (PEM) signed.
    pub fn start(target: SocketAddr, trusted: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("hops").enable_all().build()?;
        let shared = Arc::<Shared>::default();
        let behind = listen(&runtime, target, trusted, Arc::clone(&shared), Shared::behind)?;
        Ok(Self { behind, shared, runtime })
    }

    /// The hop `behind`, which watchtap must use as its upstream.
    pub fn behind(&self) -> &Listening {
        &self.behind
    }

    /// Starts the hop `before`, to watchtap or a hop in front of it. Clients must connect to the hop returned here.
    pub fn start_before(&self, target: SocketAddr, trusted: &str) -> Result<Listening> {
        listen(&self.runtime, target, trusted, Arc::clone(&self.shared), Shared::before)
    }

    /// Runs `break_it`. Connections that are open meanwhile may end in any way, but may not deliver other bytes.
    pub fn while_breaking(&self, break_it: impl FnOnce()) {
        self.shared.breaking.store(true, Ordering::SeqCst);
        self.disturb();
        break_it();
        self.disturb();
        self.shared.breaking.store(false, Ordering::SeqCst);
    }

    fn disturb(&self) {
        locked(&self.shared.living).retain(|tracked| {
            let Some(tracked) = tracked.upgrade() else { return false };
            tracked.disturb();
            true
        });
    }

    /// The number of open sockets between the hops and watchtap.
    pub fn sockets(&self) -> usize {
        self.shared.sockets.load(Ordering::SeqCst)
    }

    /// Totals of all ended connections.
    pub fn tally(&self) -> Tally {
        locked(&self.shared.tally).clone()
    }
}

/// Accepts until the runtime ends, and serves each connection with `pass`.
fn listen<Passing: Future<Output = Result<()>> + Send + 'static>(
    runtime: &Runtime,
    target: SocketAddr,
    trusted: &str,
    shared: Arc<Shared>,
    pass: fn(Arc<Shared>, Arc<Ends>, TcpStream) -> Passing,
) -> Result<Listening> {
    let (ends, authority) = Ends::to(target, trusted)?;
    let ends = Arc::new(ends);
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let address = listener.local_addr()?;
    runtime.spawn(async move {
        loop {
            if let Ok((client, _)) = listener.accept().await {
                // A client whose handshake fails has carried no data.
                tokio::spawn(pass(Arc::clone(&shared), Arc::clone(&ends), client));
            }
        }
    });
    Ok(Listening { address, authority })
}

impl Tally {
    fn note(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }
}

impl Shared {
    /// A connection from a client.
    async fn before(self: Arc<Self>, ends: Arc<Ends>, client: TcpStream) -> Result<()> {
        let client = Greeted::by(client).await?;
        let _socket = Socket::of(&self);
        let tracked =
            Arc::new(Tracked { passage: Mutex::default(), breaking: Arc::clone(&self.breaking), tally: Arc::clone(&self.tally) });
        locked(&self.living).push(Arc::downgrade(&tracked));
        let number = self.numbers.fetch_add(1, Ordering::SeqCst);
        locked(&self.numbered).insert(number, Arc::clone(&tracked));
        let mut offered = client.offered();
        offered.push([MARK, number.to_string().as_bytes()].concat());
        let reached = ends.reach_offering(client, offered).await;
        let is_nobodys = locked(&self.numbered).remove(&number).is_some();
        let reached = reached.inspect_err(|_| tracked.disturb())?;
        if is_nobodys {
            locked(&self.tally).note("watchtap shook hands, and there is no connection behind it".to_owned());
        }
        let joined = ends.join(reached).await.inspect_err(|_| tracked.disturb())?;
        locked(&tracked.passage).is_joined = true;
        joined.pass(|seen| tracked.give(Of::Request, seen), |seen| tracked.get(Of::Response, seen)).await;
        Ok(())
    }

    /// The same connection, from watchtap.
    async fn behind(self: Arc<Self>, ends: Arc<Ends>, client: TcpStream) -> Result<()> {
        let _socket = Socket::of(&self);
        let client = Greeted::by(client).await?;
        let (marks, offered): (Vec<_>, Vec<_>) = client.offered().into_iter().partition(|name| name.starts_with(MARK));
        let Some(mark) = marks.first().and_then(|mark| mark.strip_prefix(MARK)) else {
            locked(&self.tally).note("watchtap made a connection of its own accord".to_owned());
            bail!("a connection without a number");
        };
        let number: u64 = std::str::from_utf8(mark)?.parse()?;
        let tracked = locked(&self.numbered).remove(&number).context("whoever wanted it has left")?;
        let reached = ends.reach_offering(client, offered).await.inspect_err(|_| tracked.disturb())?;
        let joined = ends.join(reached).await.inspect_err(|_| tracked.disturb())?;
        joined.pass(|seen| tracked.get(Of::Request, seen), |seen| tracked.give(Of::Response, seen)).await;
        Ok(())
    }
}

impl Tracked {
    fn disturb(&self) {
        locked(&self.passage).is_disturbed = true;
    }

    fn give(&self, of: Of, seen: Seen<'_>) {
        locked(&self.passage).give(of, seen);
    }

    fn get(&self, of: Of, seen: Seen<'_>) {
        let mut passage = locked(&self.passage);
        passage.is_disturbed |= self.breaking.load(Ordering::SeqCst);
        if let Err(wrong) = passage.get(of, seen) {
            let Passage { request, response, .. } = &*passage;
            let so_far = format!("{of:?}: {wrong}; so far requests {:?}, responses {:?}", request.carried, response.carried);
            locked(&self.tally).note(so_far);
        }
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let (passage, mut tally) = (locked(&self.passage), locked(&self.tally));
        tally.request += passage.request.carried;
        tally.response += passage.response.carried;
        tally.connections += u64::from(passage.is_joined);
        tally.whole += u64::from(passage.is_joined && passage.is_complete());
    }
}

/// Counts an open socket.
struct Socket(Arc<Shared>);

impl Socket {
    fn of(shared: &Arc<Shared>) -> Self {
        shared.sockets.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(shared))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.0.sockets.fetch_sub(1, Ordering::SeqCst);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
