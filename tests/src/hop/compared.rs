//! Two hops with watchtap between them, and every byte compared as it comes.

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

/// One hop behind watchtap, in front of the API server, and one before it. What the one gives, the other must get: the same bytes, all of
/// them, and the end only if it was sent.
///
/// Which connection behind belongs to which before is known by one more protocol that the hop before offers: watchtap passes on what is offered.
/// It must make no connection of its own accord (`--server-version`, `--no-metrics-request`).
#[derive(Debug)]
pub struct ComparedHops {
    behind: Listening,
    shared: Arc<Shared>,
    runtime: Runtime,
}

/// Begins the protocol's name that holds a connection's number; nobody speaks it.
const MARK: &[u8] = b"hop/";

/// Where one of them listens.
#[derive(Clone, Debug)]
pub struct Listening {
    /// On loopback.
    pub address: SocketAddr,
    /// Who vouches for its certificate, PEM.
    pub authority: String,
}

/// What all connections that are over have carried.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Those that both hops saw.
    pub connections: u64,
    /// Those among them of which everything came that was given, in both directions.
    pub whole: u64,
    /// Clients to server.
    pub request: Carried,
    /// Server to clients.
    pub response: Carried,
    /// What was wrong first.
    pub wrong: Option<String>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Connections that were given a number, by it.
    numbered: Mutex<HashMap<u64, Arc<Tracked>>>,
    numbers: AtomicU64,
    /// Those that live.
    living: Mutex<Vec<Weak<Tracked>>>,
    /// Somebody breaks what is between the hops just now.
    breaking: Arc<AtomicBool>,
    tally: Arc<Mutex<Tally>>,
    sockets: AtomicUsize,
}

/// A connection that both hops hold; once neither does, it is in the tally.
#[derive(Debug)]
struct Tracked {
    passage: Mutex<Passage>,
    breaking: Arc<AtomicBool>,
    tally: Arc<Mutex<Tally>>,
}

impl ComparedHops {
    /// Starts the hop behind, to a `target` whose certificate is vouched for by `trusted` (PEM).
    pub fn start(target: SocketAddr, trusted: &str) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("hops").enable_all().build()?;
        let shared = Arc::<Shared>::default();
        let behind = listen(&runtime, target, trusted, Arc::clone(&shared), Shared::behind)?;
        Ok(Self { behind, shared, runtime })
    }

    /// The hop behind, where watchtap is to be led.
    pub fn behind(&self) -> &Listening {
        &self.behind
    }

    /// Starts the hop before, to watchtap or what leads there; clients are to be led to it.
    pub fn start_before(&self, target: SocketAddr, trusted: &str) -> Result<Listening> {
        listen(&self.runtime, target, trusted, Arc::clone(&self.shared), Shared::before)
    }

    /// Breaks what is between the hops: connections that there are meanwhile may end in any way, but not with other bytes.
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

    /// How many sockets between the hops and watchtap are open.
    pub fn sockets(&self) -> usize {
        self.shared.sockets.load(Ordering::SeqCst)
    }

    /// What all connections that are over have carried.
    pub fn tally(&self) -> Tally {
        locked(&self.shared.tally).clone()
    }
}

/// Accepts until the runtime ends, and serves each connection by `pass`.
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
                // Who fails to shake hands has carried nothing.
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
    /// A connection of a client.
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

    /// The same connection, as watchtap makes it.
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
        tally.whole += u64::from(passage.is_joined && passage.is_whole());
    }
}

/// A socket that is open.
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
