//! The queue between the forwarding threads and the observing thread.
//!
//! It is a lock-free list without a bound of its own. Every entry carries a [`Charge`] against a bounded account, so the list is
//! bounded too. The observing thread shares no lock with it: if that thread were descheduled while holding one, traffic would stop.

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

/// The sending end, for taps. All clones share one queue.
#[derive(Clone, Debug)]
pub struct Intake {
    sender: Sender<Delivered>,
    shared: Arc<Shared>,
    processes: Option<ProcessFinder>,
}

/// The receiving end, for the observing thread.
#[derive(Debug)]
pub struct IntakeReceiver {
    receiver: Receiver<Delivered>,
    hurry: Receiver<()>,
    shared: Arc<Shared>,
    batch: Vec<Delivered>,
    closed: bool,
}

/// One entry of a batch. Its memory counts against the limits until it is dropped.
#[derive(Debug)]
pub struct Delivered {
    /// The report of a tap.
    pub delivery: Delivery,
    _charge: Option<Charge>,
}

/// A report of a tap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// An event of a connection.
    Connection(ConnectionId, TapEvent),
    /// The process of a connection's client, or `None` if unknown. Sent once for each connection opened with `process_follows`,
    /// possibly after its last event.
    Process(ConnectionId, Option<Process>),
    /// A notice about the tap itself.
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

/// Bytes for a connection's opening, ends and last gaps, charged in advance so that they always fit.
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

    /// The same queue, with a finder of client processes.
    #[must_use]
    pub fn with_processes(self, processes: ProcessFinder) -> Self {
        Self { processes: Some(processes), ..self }
    }

    /// Starts the look-up of the process that is connected from `client` to `listener`. If it starts when the client is accepted,
    /// it has usually finished by the end of the handshakes.
    pub fn ask_for_process(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        self.processes.as_ref().map(|processes| processes.ask(client, listener)).unwrap_or_default()
    }

    /// Begins to observe a connection; `None` if there is no room for another one, or no receiver.
    pub fn register(&self, at: Timestamp, info: ConnectionInfo) -> Option<ConnectionFeed> {
        let feed = self.open(Opened { at, info, process_follows: false }).map(|(_, feed)| feed);
        if feed.is_none() {
            self.decline();
        }
        feed
    }

    /// The same while the client's process is still being looked up. Until it is reported, later observations are decoded and then
    /// wait.
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

    /// Counts a connection that the tap does not follow because the tap itself has no room.
    pub fn decline(&self) {
        self.shared.losses.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Queues a notice that belongs to no connection.
    pub fn notice(&self, notice: Notice) {
        let charge = self.shared.reserve.charge(NOTICE_COST);
        // These are rare and never refused: the observer waits for profiles, and must know what was missed and when the shutdown
        // began.
        let is_needed = matches!(notice, Notice::Profile { .. } | Notice::ProbeMissed { .. } | Notice::ShutdownRequested { .. });
        let taken = charge.is_some() || is_needed;
        let told = taken && self.sender.send(Delivered { delivery: Delivery::Notice(notice), _charge: charge }).is_ok();
        if !told {
            self.shared.losses.notices.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Losses so far.
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
    /// Waits up to `max_wait` for a first entry, then briefly for more, and returns them in order of arrival.
    ///
    /// Empty if nothing arrived; see [`Self::is_closed`].
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

    /// Whether all [`Intake`]s and connections are gone and the queue is empty.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Losses so far.
    pub fn losses(&self) -> IntakeLosses {
        self.shared.losses.snapshot()
    }

    /// Sleeps while little is queued: waking this thread costs more than handling a small event.
    fn collect(&self) {
        while self.hurry.try_recv().is_ok() {}
        self.shared.hurried.store(false, Ordering::SeqCst);
        if !self.shared.is_much_waiting() {
            // The batch is due in both cases: the time is up, or a sender hurries.
            self.hurry.recv_timeout(COLLECT).ok();
        }
    }
}

/// How long a first event may wait for others.
const COLLECT: Duration = Duration::from_millis(5);
/// Queued bytes above which the observing thread is woken at once.
const MUCH: usize = 256 << 10;
/// Most entries of one batch, so that one drain ends however fast the traffic is.
const BATCH: usize = 8192;

impl Shared {
    /// Wakes the observing thread when much is queued.
    pub(super) fn hurry_if_much_waits(&self) {
        if self.is_much_waiting() && !self.hurried.swap(true, Ordering::SeqCst) {
            // A full channel means that the thread was woken already. Without a receiver there is no thread to wake.
            self.hurry.try_send(()).ok();
        }
    }

    /// Ignores the reserve: open but silent connections are charged to it, and its other entries wait behind much data.
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
