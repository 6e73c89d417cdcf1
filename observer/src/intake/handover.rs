//! The queue between the forwarding threads and the observing thread.
//!
//! It is a lock-free list without a bound of its own; every entry carries a [`Charge`] against a bounded account, so its length has
//! one all the same. No lock is shared with the observing thread: one that is descheduled at the wrong moment would stop traffic.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::Duration;
use std::vec::Drain;

use observer_core::observation::Process;
use observer_core::time::Timestamp;

use super::account::{Account, Charge};
use super::feed::Opened;
use super::losses::LossCounters;
use super::outbox::Outbox;
use super::{ConnectionFeed, ConnectionId, ConnectionInfo, IntakeLimits, IntakeLosses, Notice, PendingProcess, TapEvent};
use crate::client_process::{Inquiry, ProcessFinder};

/// Where taps put what they see. Cheap to clone; all clones are one queue.
#[derive(Clone, Debug)]
pub struct Intake {
    sender: Sender<Delivered>,
    shared: Arc<Shared>,
    processes: Option<ProcessFinder>,
}

/// Where the observing thread takes it.
#[derive(Debug)]
pub struct IntakeReceiver {
    receiver: Receiver<Delivered>,
    hurry: Receiver<()>,
    shared: Arc<Shared>,
    batch: Vec<Delivered>,
    closed: bool,
}

/// One entry of a batch. Its memory counts against the limits until this is dropped.
#[derive(Debug)]
pub struct Delivered {
    /// What happened.
    pub delivery: Delivery,
    _charge: Option<Charge>,
}

/// What a tap has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// About a connection.
    Connection(ConnectionId, TapEvent),
    /// Which process the client of a connection is, or that this is unknown: once of each that said that it follows, maybe behind its last event.
    Process(ConnectionId, Option<Process>),
    /// About the tap itself.
    Notice(Notice),
}

#[derive(Debug)]
pub(super) struct Shared {
    limits: IntakeLimits,
    next_connection: AtomicU64,
    pub(super) data: Arc<Account>,
    pub(super) reserve: Arc<Account>,
    pub(super) losses: LossCounters,
    hurry: SyncSender<()>,
    hurried: AtomicBool,
}

/// Each connection's opening, ends and last gaps, paid in advance so that they always fit.
const CONNECTION_COST: usize = 1024;
const NOTICE_COST: usize = 256;
const PROCESS_COST: usize = 256;

impl Intake {
    /// An empty queue and its only reader.
    pub fn new(limits: IntakeLimits) -> (Self, IntakeReceiver) {
        let (sender, receiver) = mpsc::channel();
        let (hurry, hurry_receiver) = mpsc::sync_channel(1);
        let shared = Arc::new(Shared {
            limits,
            next_connection: AtomicU64::new(1),
            data: Account::of(limits.total),
            reserve: Account::of(limits.total_reserve),
            losses: LossCounters::default(),
            hurry,
            hurried: AtomicBool::new(false),
        });
        let receiver =
            IntakeReceiver { receiver, hurry: hurry_receiver, shared: Arc::clone(&shared), batch: Vec::new(), closed: false };
        (Self { sender, shared, processes: None }, receiver)
    }

    /// The same, with somebody who finds out which processes clients are.
    #[must_use]
    pub fn with_processes(self, processes: ProcessFinder) -> Self {
        Self { processes: Some(processes), ..self }
    }

    /// Begins to find out which process is connected from `client` to `listener`. Asked as soon as it is, that is usually known when it has
    /// shaken hands.
    pub fn ask_for_process(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        self.processes.as_ref().map(|processes| processes.ask(client, listener)).unwrap_or_default()
    }

    /// Begins to observe a connection; `None` when there is no room for another one or nobody to observe it.
    pub fn register(&self, at: Timestamp, info: ConnectionInfo) -> Option<ConnectionFeed> {
        let feed = self.open(Opened { at, info, process_follows: false }).map(|(_, feed)| feed);
        if feed.is_none() {
            self.decline();
        }
        feed
    }

    /// The same of a connection whose client's process is looked for still. Until that is told, what comes behind is decoded and then waits.
    pub fn register_before_process(&self, at: Timestamp, info: ConnectionInfo) -> Option<(ConnectionFeed, PendingProcess)> {
        let registered = self.shared.reserve.charge(PROCESS_COST).and_then(|charge| {
            let (id, feed) = self.open(Opened { at, info, process_follows: true })?;
            Some((feed, PendingProcess::new(id, self.sender.clone(), charge)))
        });
        if registered.is_none() {
            self.decline();
        }
        registered
    }

    /// Counts a connection that the tap does not follow for want of room of its own.
    pub fn decline(&self) {
        self.shared.losses.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells something that belongs to no connection.
    pub fn notice(&self, notice: Notice) {
        let charge = self.shared.reserve.charge(NOTICE_COST);
        // What is known of a server is waited for, and what was missed and when the end began must be known; they come seldom, and are never
        // refused.
        let is_needed = matches!(notice, Notice::Profile { .. } | Notice::ProbeMissed { .. } | Notice::ShutdownRequested { .. });
        let taken = charge.is_some() || is_needed;
        let told = taken && self.sender.send(Delivered { delivery: Delivery::Notice(notice), _charge: charge }).is_ok();
        if !told {
            self.shared.losses.notices.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// What fell out so far.
    pub fn losses(&self) -> IntakeLosses {
        self.shared.losses.snapshot()
    }

    fn open(&self, opened: Opened) -> Option<(ConnectionId, ConnectionFeed)> {
        let charge = self.shared.reserve.charge(CONNECTION_COST)?;
        let id = ConnectionId(self.shared.next_connection.fetch_add(1, Ordering::Relaxed));
        let limits = self.shared.limits;
        let outbox = Outbox::new(id, self.sender.clone(), Arc::clone(&self.shared), limits);
        Some((id, ConnectionFeed::open(outbox, charge, opened)?))
    }
}

impl IntakeReceiver {
    /// Waits up to `max_wait` for something to come, then a little longer for more, and returns it in the order of its coming.
    ///
    /// Empty when nothing came; see [`Self::is_closed`].
    pub fn drain(&mut self, max_wait: Duration) -> Drain<'_, Delivered> {
        match self.receiver.recv_timeout(max_wait) {
            Ok(first) => {
                self.batch.push(first);
                self.collect();
                self.batch.extend(self.receiver.try_iter().take(BATCH));
            }
            Err(RecvTimeoutError::Disconnected) => self.closed = true,
            Err(RecvTimeoutError::Timeout) => {}
        }
        self.batch.drain(..)
    }

    /// Whether all [`Intake`]s and connections are gone and everything was drained.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// What fell out so far.
    pub fn losses(&self) -> IntakeLosses {
        self.shared.losses.snapshot()
    }

    /// Sleeps while little is waiting: a wake-up of this thread costs more than the bytes of a small event.
    fn collect(&self) {
        while self.hurry.try_recv().is_ok() {}
        self.shared.hurried.store(false, Ordering::SeqCst);
        if !self.shared.is_much_waiting() {
            // Whether the time passed or somebody is in a hurry, the batch is due.
            self.hurry.recv_timeout(COLLECT).ok();
        }
    }
}

/// How long a first event may wait for company.
const COLLECT: Duration = Duration::from_millis(5);
/// Above this much, the observing thread is woken at once.
const MUCH: usize = 256 << 10;
/// A bound on one batch, so that one drain ends however fast the traffic is.
const BATCH: usize = 8192;

impl Shared {
    /// Wakes the observing thread when much is waiting.
    pub(super) fn hurry_if_much_waits(&self) {
        if self.is_much_waiting() && !self.hurried.swap(true, Ordering::SeqCst) {
            // A full bell has been rung already; no receiver means that nobody will come.
            self.hurry.try_send(()).ok();
        }
    }

    /// The reserve is not asked: connections that are open and silent are charged to it, and what else is there waits behind much data.
    fn is_much_waiting(&self) -> bool {
        self.data.used() >= MUCH
    }
}

impl Delivered {
    pub(super) fn of_connection(id: ConnectionId, event: TapEvent, charge: Option<Charge>) -> Self {
        Self { delivery: Delivery::Connection(id, event), _charge: charge }
    }

    pub(super) fn of_process(id: ConnectionId, process: Option<Process>, charge: Option<Charge>) -> Self {
        Self { delivery: Delivery::Process(id, process), _charge: charge }
    }
}
