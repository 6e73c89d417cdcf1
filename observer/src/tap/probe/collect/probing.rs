//! The thread that takes records.
//!
//! It reads no program and attaches nothing, so it empties the rings however much there is to look at. Timed work is done on time
//! rather than when the rings are empty, since records may never cease.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use observer_ebpf::LifeKind;

use super::ending::Ending;
use super::in_order::InOrder;
use super::telling::{Telling, missed};
use super::wakes::Wakes;
use crate::tap::Clock;
use crate::tap::probe::assembly::Recording;
use crate::tap::probe::attach::{Finding, LastTurn, Order, Orders, Standstill};
use crate::tap::probe::error::ProbeError;
use crate::tap::probe::kernel::Recorded;
use crate::tap::probe::kernel_clock::{Times, kernels_now};
use crate::tap::probe::options::ProbeOutcome;

/// How often the rings are read, since the programs send no wake-up for a record. Overdue data is given up as often.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Shortest time between two reads after wake-ups. The programs send one for each process that executes a program, which may be
/// thousands per second.
const LOOK_AT_MOST_EVERY: Duration = Duration::from_millis(1);
/// How often the increase of missed records is reported.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Most records taken before anything else is done; the same for lives.
const BATCH: usize = 4_096;

/// The state that the thread starts with.
#[derive(Debug)]
pub(in crate::tap::probe) struct Probing {
    pub(in crate::tap::probe) clock: Clock,
    pub(in crate::tap::probe) recorded: Recorded,
    /// Of the rings of `recorded`.
    pub(in crate::tap::probe) wakes: Wakes,
    pub(in crate::tap::probe) in_order: InOrder,
    pub(in crate::tap::probe) telling: Telling,
    /// To the looking thread.
    pub(in crate::tap::probe) orders: Orders,
    pub(in crate::tap::probe) findings: Receiver<Finding>,
    /// Of the looking thread.
    pub(in crate::tap::probe) last_turn: LastTurn,
}

/// The state of the running thread.
struct Run {
    clock: Clock,
    recorded: Recorded,
    wakes: Wakes,
    in_order: InOrder,
    telling: Telling,
    /// `None` once the probe must end.
    orders: Option<Orders>,
    findings: Receiver<Finding>,
    last_turn: LastTurn,
    standstill: Standstill,
    /// All lives and findings up to this time were taken, by the kernel's clock.
    caught_up: u64,
    outcome: Option<ProbeOutcome>,
    /// All probes are detached, so nothing more is recorded.
    is_detached: bool,
    next_pass: Instant,
    next_telling: Instant,
}

impl Probing {
    /// Takes records until shutdown is requested or the looking thread has failed. It then continues, for a bounded time, until
    /// nothing more can come.
    pub(in crate::tap::probe) fn run(self, is_asked: &AtomicBool) -> Result<ProbeOutcome, ProbeError> {
        let Self { clock, recorded, wakes, in_order, telling, orders, findings, last_turn } = self;
        let mut run = Run {
            clock,
            recorded,
            wakes,
            in_order,
            telling,
            orders: Some(orders),
            findings,
            last_turn,
            standstill: Standstill::default(),
            caught_up: 0,
            outcome: None,
            is_detached: false,
            next_pass: Instant::now(),
            next_telling: Instant::now() + TELL_EVERY,
        };
        run.until_the_end(is_asked);
        run.in_order.finish(clock.now());
        run.tell_what_was_missed();
        match run.outcome {
            Some(outcome) => Ok(outcome),
            None if run.is_detached => Err(ProbeError::Failed),
            // The looking thread has not ended yet, and is not waited for.
            None => Ok(ProbeOutcome::default()),
        }
    }
}

impl Run {
    fn until_the_end(&mut self, is_asked: &AtomicBool) {
        let mut ending = Ending::default();
        loop {
            if is_asked.load(Ordering::Acquire) {
                // Without orders the looking thread ends, and all attachments end with it.
                self.orders = None;
            }
            // Read before the round: if the probes are detached now, the round finds all of their records.
            let is_detached = self.is_detached;
            if is_detached || self.orders.is_none() {
                ending.begin(Instant::now());
            }
            let begun = Instant::now();
            let is_drained = self.round();
            if ending.is_over(Instant::now(), is_detached, is_drained) {
                return;
            }
            if is_drained {
                self.wakes.wait(begun, LOOK_AT_MOST_EVERY, LOOK_EVERY);
            }
        }
    }

    /// Takes a bounded number of records, and does all work that is due. True if nothing is left to take.
    fn round(&mut self) -> bool {
        if let Some(orders) = &mut self.orders {
            orders.catch_up();
        }
        self.in_order.look_at_clocks(Times::now(self.clock));
        self.catch_up();
        let is_drained = self.take_records() < BATCH;
        if is_drained {
            self.in_order.found_empty(self.caught_up);
        }
        let now = Instant::now();
        if self.next_pass <= now {
            self.in_order.pass();
            self.next_pass = now + LOOK_EVERY;
        }
        if self.next_telling <= now {
            self.tell_what_was_missed();
            self.tell_of_standstill();
            self.next_telling = now + TELL_EVERY;
        }
        is_drained
    }

    /// Takes records, each after the lives and findings before it.
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
            self.recorded.dismiss(connection);
        }
        taken
    }

    /// Takes all lives and findings until now.
    fn catch_up(&mut self) {
        let now = kernels_now();
        self.take_findings();
        while self.take_lives() == BATCH {}
        self.caught_up = now;
    }

    fn take_lives(&mut self) -> usize {
        let Self { recorded, in_order, orders, .. } = self;
        let mut order = |order| {
            if let Some(orders) = orders {
                orders.give(order);
            }
        };
        recorded.take_lives(BATCH, |life| {
            if life.kind == LifeKind::Exec as u32 {
                order(Order::Executed(life.process));
            } else if life.kind == LifeKind::Exit as u32 {
                order(Order::Exited(life.process));
                in_order.ended(*life);
            } else if life.kind == LifeKind::Socket as u32 {
                in_order.ended(*life);
            }
        })
    }

    fn take_findings(&mut self) {
        loop {
            match self.findings.try_recv() {
                Ok(Finding::Left { file, at }) => self.in_order.left(file, at),
                Ok(Finding::Explained(explained)) => self.in_order.explain(explained),
                Ok(Finding::NotProbed { file, why }) => self.telling.not_probed(&file, &why),
                Ok(Finding::Outcome(outcome)) => self.outcome = Some(outcome),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_detached = true;
                    return;
                }
            }
        }
    }

    fn tell_of_standstill(&mut self) {
        if self.orders.is_some()
            && !self.is_detached
            && let Some(news) = self.standstill.news(kernels_now(), self.last_turn.at())
        {
            self.telling.not_probed("files of processes", &news);
        }
    }

    fn tell_what_was_missed(&mut self) {
        self.telling.missed(missed(&self.recorded, self.in_order.assembly()));
    }
}
