//! The sending end of the queue, for taps.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, PoisonError};

use observer_core::series::{ProbeAddresses, ProbeFiles};
use observer_core::time::Timestamp;

use super::feed::Opened;
use super::outbox::Outbox;
use super::queue::{Delivered, Shared};
use super::receiver::IntakeReceiver;
use super::{ConnectionFeed, ConnectionId, ConnectionInfo, IntakeLimits, IntakeLosses, Notice, PendingProcess, Waker};
use crate::client_process::{Inquiry, ProcessFinder};

/// The sending end, for taps. All clones share one queue.
#[derive(Clone, Debug)]
pub struct Intake {
    /// Shared, so that a [`Waker`] can hold a weak reference.
    sender: Arc<Sender<Delivered>>,
    shared: Arc<Shared>,
    processes: Option<ProcessFinder>,
}

/// Bytes for a connection's opening, ends and last gaps, charged in advance so that they always fit.
const CONNECTION_COST: usize = 1024;
const NOTICE_COST: usize = 256;
const PROCESS_COST: usize = 256;

impl Intake {
    /// Creates an empty queue and its only receiver.
    pub fn new(limits: IntakeLimits) -> (Self, IntakeReceiver) {
        let (sender, receiver) = mpsc::channel();
        let sender = Arc::new(sender);
        let (shared, hurry_receiver) = Shared::new(limits);
        let waker = Waker::new(Arc::downgrade(&sender), Arc::clone(&shared));
        let receiver = IntakeReceiver::new(receiver, hurry_receiver, Arc::clone(&shared), waker);
        (Self { sender, shared, processes: None }, receiver)
    }

    /// Adds a finder of client processes.
    #[must_use]
    pub fn with_processes(self, processes: ProcessFinder) -> Self {
        Self { processes: Some(processes), ..self }
    }

    /// Starts the lookup of the process that is connected from `client` to `listener`. Called when the client is accepted, the
    /// lookup has usually finished by the end of the handshakes.
    pub fn ask_for_process(&self, client: SocketAddr, listener: SocketAddr) -> Inquiry {
        self.processes.as_ref().map(|processes| processes.ask(client, listener)).unwrap_or_default()
    }

    /// Begins to observe a connection. Returns `None` if there is no room for another one, or if the receiver is gone.
    pub fn register(&self, at: Timestamp, info: ConnectionInfo) -> Option<ConnectionFeed> {
        let feed = self.open(Opened { at, info, process_follows: false }).map(|(_, feed)| feed);
        if feed.is_none() {
            self.decline();
        }
        feed
    }

    /// As [`Self::register`], for a client whose process is still being looked up. Until the process is reported, later
    /// observations are decoded, but held back.
    pub fn register_before_process(&self, at: Timestamp, info: ConnectionInfo) -> Option<(ConnectionFeed, PendingProcess)> {
        let registered = self.shared.reserve.charge(PROCESS_COST).and_then(|charge| {
            let (id, feed) = self.open(Opened { at, info, process_follows: true })?;
            Some((feed, PendingProcess::new(id, Sender::clone(&self.sender), charge)))
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
        // These notices are rare, and are queued even without room. The Observer waits for profiles, and must know which records
        // were missed, and when faults and the shutdown began.
        let is_needed = matches!(
            notice,
            Notice::Profile { .. } | Notice::ProbeMissed { .. } | Notice::Fault { .. } | Notice::ShutdownRequested { .. }
        );
        let taken = charge.is_some() || is_needed;
        let queued = taken && self.sender.send(Delivered::of_notice(notice, charge)).is_ok();
        if !queued {
            self.shared.losses.notices.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Notes how many files a probe sees now. It is no observation, so a capture does not have it.
    pub fn note_probe_files(&self, files: ProbeFiles) {
        *self.shared.probe_files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
    }

    /// Notes the addresses of a probe's API servers. They are no observation either.
    pub fn note_probe_addresses(&self, addresses: ProbeAddresses) {
        *self.shared.probe_addresses.lock().unwrap_or_else(PoisonError::into_inner) = Some(addresses);
    }

    /// Losses so far.
    pub fn losses(&self) -> IntakeLosses {
        self.shared.losses.snapshot()
    }

    fn open(&self, opened: Opened) -> Option<(ConnectionId, ConnectionFeed)> {
        let charge = self.shared.reserve.charge(CONNECTION_COST)?;
        let id = ConnectionId(self.shared.next_connection.fetch_add(1, Ordering::Relaxed));
        let outbox = Outbox::new(id, Sender::clone(&self.sender), Arc::clone(&self.shared));
        Some((id, ConnectionFeed::open(outbox, charge, opened)?))
    }
}
