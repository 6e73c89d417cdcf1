//! The queue between the forwarding threads and the observing thread.
//!
//! It is a lock-free list without a bound of its own. Every entry carries a [`Charge`] against a bounded account, so the list is
//! bounded too. The observing thread shares no lock with the forwarding threads. If it were descheduled while it held one, traffic
//! would stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex};

use observer_core::observation::Process;
use observer_core::series::{ProbeAddresses, ProbeFiles};

use super::account::{Account, Charge};
use super::losses::LossCounters;
use super::{ConnectionId, IntakeLimits, Notice, TapEvent};

/// Queued bytes above which the observing thread is woken at once.
const MUCH: usize = 256 << 10;

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

/// State that all ends of the queue share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) limits: IntakeLimits,
    pub(super) next_connection: AtomicU64,
    pub(super) data: Arc<Account>,
    pub(super) reserve: Arc<Account>,
    pub(super) losses: LossCounters,
    /// The files of a probe; `None` without one. Neither forwarding nor observing locks it.
    pub(super) probe_files: Mutex<Option<ProbeFiles>>,
    /// The addresses of a probe's API servers, likewise.
    pub(super) probe_addresses: Mutex<Option<ProbeAddresses>>,
    hurry: SyncSender<()>,
    pub(super) hurried: AtomicBool,
}

impl Shared {
    /// The state of an empty queue, and the receiver of its wake-ups.
    pub(super) fn new(limits: IntakeLimits) -> (Arc<Self>, Receiver<()>) {
        let (hurry, hurry_receiver) = mpsc::sync_channel(1);
        let shared = Self {
            limits,
            next_connection: AtomicU64::new(1),
            data: Account::of(limits.total),
            reserve: Account::of(limits.total_reserve),
            losses: LossCounters::default(),
            probe_files: Mutex::default(),
            probe_addresses: Mutex::default(),
            hurry,
            hurried: AtomicBool::new(false),
        };
        (Arc::new(shared), hurry_receiver)
    }

    /// Wakes the observing thread if at least [`MUCH`] bytes are queued.
    pub(super) fn hurry_if_much_waits(&self) {
        if self.is_much_waiting() && !self.hurried.swap(true, Ordering::SeqCst) {
            // A full channel means that the thread was woken already. Without a receiver there is no thread to wake.
            self.hurry.try_send(()).ok();
        }
    }

    /// Ignores the reserve: idle connections are charged to it, and its other entries are used only when forwarded bytes fill their
    /// budget.
    pub(super) fn is_much_waiting(&self) -> bool {
        self.data.used() >= MUCH
    }
}

impl Delivered {
    pub(super) fn of_connection(id: ConnectionId, event: TapEvent, charge: Option<Charge>) -> Self {
        Self { delivery: Delivery::Connection(id, event), _charge: charge }
    }

    pub(super) fn of_notice(notice: Notice, charge: Option<Charge>) -> Self {
        Self { delivery: Delivery::Notice(notice), _charge: charge }
    }

    pub(super) fn of_process(id: ConnectionId, process: Option<Process>, charge: Option<Charge>) -> Self {
        Self { delivery: Delivery::Process(id, process), _charge: charge }
    }
}
