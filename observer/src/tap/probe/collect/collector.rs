//! The thread that takes records.
//!
//! It reads no program files and attaches nothing, so the examination of processes cannot delay it. It does timed work on time and
//! does not wait until the rings are empty, since records may never cease.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use observer_ebpf::LifetimeKind;

use super::in_order::InOrder;
use super::reporter::{Reporter, missed};
use super::shutdown::Shutdown;
use super::wakeups::Wakeups;
use crate::tap::Clock;
use crate::tap::probe::addresses::{Change, Readdressing};
use crate::tap::probe::assembly::Recording;
use crate::tap::probe::attach::{Finding, Heartbeat, Order, Orders, Watchdog};
use crate::tap::probe::error::ProbeError;
use crate::tap::probe::kernel::Recorded;
use crate::tap::probe::kernel_clock::{Times, kernels_now};
use crate::tap::probe::options::ProbeOutcome;

/// How often the rings are read, since the programs send no wake-up for a record. Overdue data is given up at the same interval.
const READ_EVERY: Duration = Duration::from_millis(20);
/// Minimum time between two reads after wake-ups. There is a wake-up for each process that executes a program, which may be
/// thousands per second.
const READ_AT_MOST_EVERY: Duration = Duration::from_millis(1);
/// How often the increase of missed records is reported.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// Maximum number of records taken before any other work. Lifetime events are taken in batches of this size, until none is left.
const BATCH: usize = 4_096;

/// The state that the thread starts with.
#[derive(Debug)]
pub(in crate::tap::probe) struct Collector {
    pub(in crate::tap::probe) clock: Clock,
    pub(in crate::tap::probe) recorded: Recorded,
    /// Waits for the rings of `recorded`.
    pub(in crate::tap::probe) wakeups: Wakeups,
    pub(in crate::tap::probe) in_order: InOrder,
    pub(in crate::tap::probe) readdressing: Readdressing,
    pub(in crate::tap::probe) reporter: Reporter,
    /// Sends orders to the attaching thread.
    pub(in crate::tap::probe) orders: Orders,
    pub(in crate::tap::probe) findings: Receiver<Finding>,
    /// Shows whether the attaching thread is stuck.
    pub(in crate::tap::probe) heartbeat: Heartbeat,
}

/// The state of the running thread.
struct Run {
    clock: Clock,
    recorded: Recorded,
    wakeups: Wakeups,
    in_order: InOrder,
    readdressing: Readdressing,
    reporter: Reporter,
    /// The sender of orders; `None` once the probe must end.
    orders: Option<Orders>,
    findings: Receiver<Finding>,
    heartbeat: Heartbeat,
    watchdog: Watchdog,
    /// Time of the kernel's clock up to which all lifetime events and findings were taken.
    caught_up: u64,
    outcome: Option<ProbeOutcome>,
    /// Whether all probes are detached, so that nothing more is recorded.
    is_detached: bool,
    next_expiry: Instant,
    next_report: Instant,
}

impl Collector {
    /// Takes records until shutdown is requested or the attaching thread has failed. It then continues, for a bounded time, until
    /// nothing more can come.
    pub(in crate::tap::probe) fn run(self, is_requested: &AtomicBool) -> Result<ProbeOutcome, ProbeError> {
        let Self { clock, recorded, wakeups, in_order, readdressing, reporter, orders, findings, heartbeat } = self;
        let mut run = Run {
            clock,
            recorded,
            wakeups,
            in_order,
            readdressing,
            reporter,
            orders: Some(orders),
            findings,
            heartbeat,
            watchdog: Watchdog::default(),
            caught_up: 0,
            outcome: None,
            is_detached: false,
            next_expiry: Instant::now(),
            next_report: Instant::now() + REPORT_EVERY,
        };
        run.until_the_end(is_requested);
        run.in_order.finish(clock.now());
        run.report_missed();
        match run.outcome {
            Some(outcome) => Ok(ProbeOutcome { other_log_folders: run.in_order.containers().other_log_folders(), ..outcome }),
            None if run.is_detached => Err(ProbeError::Failed),
            // The attaching thread has not ended yet, and is not waited for.
            None => Ok(ProbeOutcome::default()),
        }
    }
}

impl Run {
    fn until_the_end(&mut self, is_requested: &AtomicBool) {
        let mut shutdown = Shutdown::default();
        loop {
            if is_requested.load(Ordering::Acquire) {
                // Without orders the attaching thread ends, and all attachments end with it.
                self.orders = None;
            }
            // Read before the round: if the probes are detached now, the round finds all of their records.
            let is_detached = self.is_detached;
            if is_detached || self.orders.is_none() {
                shutdown.begin(Instant::now());
            }
            let begun = Instant::now();
            let is_drained = self.round();
            if shutdown.is_over(Instant::now(), is_detached, is_drained) {
                return;
            }
            if is_drained {
                self.wakeups.wait(begun, READ_AT_MOST_EVERY, READ_EVERY);
            }
        }
    }

    /// Takes a bounded number of records, and does all work that is due. Returns true if nothing is left to take.
    fn round(&mut self) -> bool {
        if let Some(orders) = &mut self.orders {
            orders.catch_up();
        }
        self.in_order.adjust_clocks(Times::now(self.clock));
        self.catch_up();
        let is_drained = self.take_records() < BATCH;
        if is_drained {
            self.in_order.found_empty(self.caught_up);
        }
        let now = Instant::now();
        self.take_addresses(now);
        self.settle_addresses(false);
        if self.next_expiry <= now {
            self.in_order.expire();
            self.next_expiry = now + READ_EVERY;
        }
        if self.next_report <= now {
            self.report_missed();
            self.report_watchdog();
            self.next_report = now + REPORT_EVERY;
        }
        is_drained
    }

    /// Takes records, each after the lifetime events and findings before it.
    fn take_records(&mut self) -> usize {
        let mut taken = 0;
        let mut dismissed = Vec::new();
        loop {
            let mut later = None;
            let Self { recorded, in_order, caught_up, .. } = self;
            taken += recorded.take_records(BATCH.saturating_sub(taken), |record, payload| {
                if record.time > *caught_up {
                    later = Some((*record, payload.to_vec()));
                    return ControlFlow::Break(());
                }
                if in_order.take(record, payload) == Recording::Stops {
                    dismissed.push(record.connection);
                }
                ControlFlow::Continue(())
            });
            let Some((record, payload)) = later else { break };
            self.catch_up();
            if self.in_order.take(&record, &payload) == Recording::Stops {
                dismissed.push(record.connection);
            }
        }
        for connection in &dismissed {
            self.recorded.stop_recording(connection);
        }
        taken
    }

    /// Takes all lifetime events and findings until now.
    fn catch_up(&mut self) {
        let now = kernels_now();
        self.take_findings();
        while self.take_lifetimes() == BATCH {}
        self.caught_up = now;
    }

    fn take_lifetimes(&mut self) -> usize {
        let Self { recorded, in_order, orders, .. } = self;
        let mut order = |order| {
            if let Some(orders) = orders {
                orders.give(order);
            }
        };
        recorded.take_lifetimes(BATCH, |event| {
            if event.kind == LifetimeKind::Exec as u32 {
                order(Order::Executed(event.process));
            } else if event.kind == LifetimeKind::Exit as u32 {
                order(Order::Exited(event.process));
                in_order.ended(*event);
            } else if event.kind == LifetimeKind::Socket as u32 {
                in_order.ended(*event);
            }
        })
    }

    fn take_findings(&mut self) {
        loop {
            match self.findings.try_recv() {
                Ok(Finding::Detached { file, at }) => self.in_order.detached(file, at),
                Ok(Finding::FieldRecording(recording)) => self.in_order.record_fields(recording),
                Ok(Finding::NotProbed { file, why }) => self.reporter.not_probed(&file, &why),
                Ok(Finding::UnprobedClient { file, why, client }) => {
                    let client = self.in_order.owned(client);
                    self.reporter.unprobed_client(&file, why, &client);
                }
                Ok(Finding::Files(files)) => self.reporter.files(files),
                Ok(Finding::Readdressed) => self.settle_addresses(true),
                Ok(Finding::Outcome(outcome)) => self.outcome = Some(outcome),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_detached = true;
                    return;
                }
            }
        }
    }

    /// Follows addresses that API servers have got. A connection to one of them may be open already, and the programs may have taken
    /// it for unwanted. They decide about it again at its next call, and what it transferred before is unknown: it is like a
    /// connection that is older than the probe.
    fn take_addresses(&mut self, now: Instant) {
        let Self { readdressing, in_order, recorded, reporter, orders, .. } = self;
        let Some(Change { added, dropped }) = readdressing.due(now, || in_order.assembly().connected()) else { return };
        // Records of connections to new addresses may come from now on.
        in_order.readdress(readdressing.followed().servers().collect());
        for address in dropped {
            recorded.unfollow(address);
        }
        let mut ports = BTreeSet::new();
        for address in added {
            match recorded.follow(address) {
                Ok(()) => drop(ports.insert(address.port())),
                Err(error) => {
                    readdressing.refuse(address);
                    reporter.not_probed(&format!("connections to {address}"), &error.to_string());
                }
            }
        }
        if !ports.is_empty() {
            readdressing.unsettle(now, ports);
        }
        // The attaching thread starts to record the header fields of older connections, and then reports that.
        readdressing.publish();
        if let Some(orders) = orders {
            orders.give(Order::Readdressed);
        }
    }

    /// Lets the programs decide again about connections to new addresses.
    fn settle_addresses(&mut self, is_ready: bool) {
        if let Some(ports) = self.readdressing.settle(Instant::now(), is_ready) {
            self.recorded.decide_again(&ports);
            self.readdressing.publish();
        }
    }

    fn report_watchdog(&mut self) {
        if self.orders.is_some()
            && !self.is_detached
            && let Some(report) = self.watchdog.report(kernels_now(), self.heartbeat.last())
        {
            self.reporter.not_probed("files of processes", &report);
        }
    }

    fn report_missed(&mut self) {
        self.reporter.missed(missed(&self.recorded, self.in_order.assembly()));
    }
}
