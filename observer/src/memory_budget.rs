//! How much memory each part of observing may take: all bounds in bytes, from one number.
//!
//! Without a memory limit, each bound is large enough for a large cluster, and their sum is never reached. Within a limit, as that of
//! a sidecar's container, the sum has to stay below it: the kernel would end the process, and with it the traffic of all clients.
//! So observing gets a fixed part of the limit. Forwarding, whose memory follows from the number of connections, gets the rest.
//!
//! Data without room is dropped from observing, and counted. Forwarding never waits for room here.
//!
//! The decoders of open connections have no share here. Like the memory of forwarding, theirs follows from the connections, so it
//! comes from the part of forwarding: some KiB for an idle connection, and more while requests are under way.

use observer_core::observer::Limits;

use crate::intake::{IntakeLimits, ProbeLimits};

/// Memory of the program before its first connection: its data, stacks, the CA's roots, and what an allocator keeps.
const PROGRAM: u64 = 16 << 20;

/// The least memory for observing, even if the limit is lower than that of any pod.
const LEAST: usize = 4 << 20;

/// Connections to the port for metrics. Each may hold another page, if its client does not read.
pub(crate) const METRICS_CONNECTIONS: usize = 16;

/// Maximum number of bytes of a page for Prometheus, and of the points in a request to a collector, which takes 20 MiB.
pub(crate) const METRICS_PAGE: usize = 2 << 20;

/// Maximum number of bytes of a request with records for a collector. One record may be larger.
pub(crate) const OTLP_BATCH: usize = 512 << 10;

/// The bounds of all parts that keep or queue data of observing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    /// The queue from the forwarding threads to the observing thread.
    pub intake: IntakeLimits,
    /// Bytes of observations that wait while the process of a client is looked up.
    pub awaiting_process: usize,
    /// The tables of the Observer.
    pub tables: Limits,
    /// Whether the run can show a page on a terminal of its own. It takes as much as the largest page of `watchtap attach`.
    pub has_page: bool,
    /// The pages of `watchtap attach`.
    pub pages: AttachedPages,
    /// Bytes of one page of `--metrics`.
    pub metrics_page: usize,
    /// The exporter of `--otlp`.
    pub otlp: OtlpLimits,
    /// The probe; `None` for a run with the proxy.
    pub probe: Option<ProbeLimits>,
}

/// How many terminals may be attached, and the largest picture of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachedPages {
    /// Number of pages at a time.
    pub number: usize,
    /// Columns of a picture.
    pub columns: u16,
    /// Lines of a picture.
    pub lines: u16,
}

/// The bounds of the data that waits for a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtlpLimits {
    /// Bytes of the records of one signal in the queue.
    pub queue: usize,
    /// Bytes of the points in one request.
    pub points: usize,
    /// Connections whose server is remembered for their spans; and as many lists and watches, for links to their spans.
    pub remembered: usize,
}

/// The processes that share a memory limit with this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cgroup {
    /// None that needs much memory, as in a sidecar's container.
    Own,
    /// The command of `exec`, with all processes that it starts.
    WithCommand,
}

impl Default for MemoryBudget {
    /// A run with the proxy, and with a page of its own.
    fn default() -> Self {
        Self {
            intake: IntakeLimits::default(),
            awaiting_process: 16 << 20,
            tables: Limits::default(),
            has_page: true,
            pages: AttachedPages::MOST,
            metrics_page: METRICS_PAGE,
            otlp: OtlpLimits::default(),
            probe: None,
        }
    }
}

impl MemoryBudget {
    /// The part of a memory limit that observing may take: half of it, without the memory of the program. A command in the same
    /// cgroup leaves an eighth of it, since the kernel would end the command as well.
    ///
    /// The other half is for forwarding and for the gap between these estimates and the memory in use. An active connection takes some
    /// 100 KiB in the process, and the kernel's buffers of its sockets count as well (cgroup v2). An allocator keeps memory that was
    /// freed, and the files of the program count while they are in use.
    pub(crate) fn for_observing(limit: u64, cgroup: Cgroup) -> usize {
        let divisor = match cgroup {
            Cgroup::Own => 2,
            Cgroup::WithCommand => 8,
        };
        usize::try_from(limit.saturating_sub(PROGRAM) / divisor).unwrap_or(usize::MAX).max(LEAST)
    }

    /// Reduces the bounds so that all parts together take at most `memory` bytes. With more memory, no bound is smaller. From the sum
    /// of the bounds on, they stay unchanged.
    ///
    /// All parts grow together, in the proportion of the table. One that has reached its bound leaves the rest to the others.
    ///
    /// | Weight | Part | Reason |
    /// |---|---|---|
    /// | 10 | the queue, forwarded bytes | a storm of lists arrives faster than it is decoded |
    /// | 6 | the queue, frame headers and ends of connections | without them, later bytes cannot be decoded |
    /// | 4 | observations that wait for a process | lasts for two seconds at most |
    /// | 10 | tables of the Observer | copies for captures, metrics, snapshots and pages are counted in addition |
    /// | 10 | pictures of attached pages | |
    /// | 5 | pages of metrics | as many as connections |
    /// | 3 | the exporter | |
    /// | 12 | the probe | its plaintext waits until its connection is known |
    #[must_use]
    pub fn within(&self, memory: usize) -> Self {
        if self.bytes() <= memory {
            return *self;
        }
        // No part shrinks while the scale grows. So the largest scale that fits is found by halving.
        let (mut fits, mut exceeds) = (0, usize::MAX);
        while exceeds - fits > 1 {
            let middle = fits + (exceeds - fits) / 2;
            if self.of_scale(middle).bytes() <= memory {
                fits = middle;
            } else {
                exceeds = middle;
            }
        }
        self.of_scale(fits)
    }

    fn of_scale(&self, scale: usize) -> Self {
        let share = |weight: usize| scale / 64 * weight;
        Self {
            intake: self.intake.within(share(10), share(6)),
            awaiting_process: self.awaiting_process.min(share(4)),
            tables: tables_within(&self.tables, share(10)),
            has_page: self.has_page,
            pages: self.pages.within(share(10)),
            metrics_page: self.metrics_page.min(share(5) / METRICS_CONNECTIONS),
            otlp: self.otlp.within(share(3)),
            probe: self.probe.map(|probe| probe.within(share(12))),
        }
    }

    /// Bytes of all parts, if each of them is full.
    pub fn bytes(&self) -> usize {
        /// The last snapshot, the one in the making, an older one that a report shows, and the report's text, which JSON has twice.
        const SNAPSHOTS: usize = 5;
        /// The newest snapshot of a page, and the one that it shows while it is paused.
        const OF_A_PAGE: usize = 2;
        /// Outputs that hold a copy of the label sets: `--metrics` and `--otlp`.
        const COPIES: usize = 2;
        let Self { intake, awaiting_process, tables, has_page, pages, metrics_page, otlp, probe } = *self;
        let snapshot = tables.snapshot_memory();
        let page = snapshot.saturating_mul(OF_A_PAGE).saturating_add(pages.picture_bytes());
        let parts = [
            intake.bytes(),
            awaiting_process,
            tables.memory(),
            // A capture repeats the requests under way at the start of each file.
            tables.open_memory,
            tables.series.bytes().saturating_mul(COPIES),
            snapshot.saturating_mul(SNAPSHOTS),
            page.saturating_mul(pages.number.saturating_add(usize::from(has_page))),
            metrics_page.saturating_mul(METRICS_CONNECTIONS),
            otlp.bytes(),
            probe.map_or(0, ProbeLimits::bytes),
        ];
        parts.into_iter().fold(0, usize::saturating_add)
    }
}

/// In a live run, several snapshots exist at a time, so their parts get less of the memory than when a capture is read.
fn tables_within(tables: &Limits, memory: usize) -> Limits {
    /// The least rows, as few informers need, and the bytes that each may take in a snapshot.
    const ROWS: usize = 24;
    const ROW: usize = 8 << 10;
    let limits = tables.within(memory);
    Limits {
        records_memory: limits.records_memory.min(memory / 32),
        rows_memory: limits.rows_memory.min(memory / 32),
        rows: limits.rows.min((memory / 8 / ROW).max(ROWS)),
        ..limits
    }
}

impl AttachedPages {
    /// The bounds without a memory limit. A larger terminal shows the page in its top left corner.
    pub const MOST: Self = Self { number: 8, columns: 512, lines: 128 };

    /// Size of the smallest terminals in use.
    const LEAST_COLUMNS: u16 = 80;
    const LEAST_LINES: u16 = 24;

    /// Columns that a page gets before there is another one.
    const AMPLE: u16 = 320;

    /// Bytes of a cell: in the picture that the terminal shows, in the next one, and in the message.
    const CELL: usize = 128;

    /// As many ample pages as fit into `memory` bytes, and larger ones only if there are as many as there may be. There is at least
    /// one, which may be smaller.
    fn within(self, memory: usize) -> Self {
        let most = Self::of_columns(self.columns);
        let memory = memory.min(most.picture_bytes().saturating_mul(self.number));
        let number = (memory / Self::of_columns(Self::AMPLE).picture_bytes()).clamp(1, self.number);
        let widest = if number < self.number { Self::AMPLE.min(self.columns) } else { self.columns };
        // A picture is four times as wide as high.
        let columns = u16::try_from((memory / number * 4 / Self::CELL).isqrt()).unwrap_or(u16::MAX);
        Self { number, ..Self::of_columns(columns.min(widest)) }
    }

    /// One page.
    const fn of_columns(columns: u16) -> Self {
        let columns = if columns < Self::LEAST_COLUMNS { Self::LEAST_COLUMNS } else { columns };
        let lines = columns / 4;
        Self { number: 1, columns, lines: if lines < Self::LEAST_LINES { Self::LEAST_LINES } else { lines } }
    }

    fn picture_bytes(self) -> usize {
        usize::from(self.columns) * usize::from(self.lines) * Self::CELL
    }
}

impl Default for OtlpLimits {
    fn default() -> Self {
        Self { queue: 16 << 20, points: METRICS_PAGE, remembered: 16_384 }
    }
}

impl OtlpLimits {
    /// Bytes of a connection, and of a list or watch, with its places in the tables.
    const REMEMBERED: usize = 512;

    /// Reduces the bounds so that they follow `memory`.
    fn within(self, memory: usize) -> Self {
        Self {
            queue: self.queue.min(memory / 3),
            points: self.points.min(memory / 24),
            remembered: self.remembered.min(memory / 8 / Self::REMEMBERED),
        }
    }

    fn bytes(self) -> usize {
        /// Log records and spans.
        const SIGNALS: usize = 2;
        /// The body of a request, and the same in gzip.
        const BODIES: usize = 2;
        /// Points before they are encoded take five times as much as after it.
        const POINTS: usize = 6;
        let Self { queue, points, remembered } = self;
        let signal = queue.saturating_add(queue.min(OTLP_BATCH).saturating_mul(BODIES));
        let parts = [signal.saturating_mul(SIGNALS), points.saturating_mul(POINTS), remembered.saturating_mul(Self::REMEMBERED)];
        parts.into_iter().fold(0, usize::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEBI: usize = 1 << 20;

    /// A run with the proxy, a sidecar, and a run with the probe.
    fn runs() -> [MemoryBudget; 3] {
        let run = MemoryBudget::default();
        [run, MemoryBudget { has_page: false, ..run }, MemoryBudget { probe: Some(ProbeLimits::default()), ..run }]
    }

    /// From 4 MiB to 8 GiB, in steps of a sixty-fourth.
    fn memories() -> impl Iterator<Item = usize> {
        std::iter::successors(Some(4 * MEBI), |memory| Some(memory + memory / 64)).take_while(|memory| *memory <= 8192 * MEBI)
    }

    #[test]
    fn all_parts_together_fit_into_the_memory_and_use_most_of_it() {
        for (run, memory) in runs().into_iter().flat_map(|run| memories().map(move |memory| (run, memory))) {
            let budget = run.within(memory);
            let bytes = budget.bytes();
            assert!(bytes <= memory, "{bytes} of {memory}: {budget:?}");
            assert!(budget == run || bytes * 4 >= memory * 3, "only {bytes} of {memory} are used: {budget:?}");
        }
    }

    #[test]
    fn more_memory_makes_no_bound_smaller() {
        for run in runs() {
            let mut former = bounds(&run.within(0));
            for memory in memories().chain([run.bytes() - 1, run.bytes()]).collect::<std::collections::BTreeSet<_>>() {
                let present = bounds(&run.within(memory));
                assert!(
                    present.iter().zip(&former).all(|(present, former)| present >= former),
                    "{memory}: {former:?}, {present:?}"
                );
                former = present;
            }
            assert_eq!(former, bounds(&run));
        }
    }

    /// Each number of a budget.
    fn bounds(budget: &MemoryBudget) -> Vec<u64> {
        let text = format!("{budget:?}");
        text.split(|character: char| !character.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    }

    #[test]
    fn memory_of_all_bounds_changes_nothing_and_less_changes_little() {
        for run in runs() {
            let all = run.bytes();
            assert!((256 * MEBI..2048 * MEBI).contains(&all), "{all}");
            assert_eq!((run.within(all), run.within(usize::MAX)), (run, run));
            let reduced = run.within(all - 1);
            assert!(reduced != run && reduced.bytes() > all - 16 * MEBI, "{reduced:?}");
        }
    }

    #[test]
    fn forwarding_has_half_of_the_limit_and_a_command_most_of_it() {
        for limit in [32_u64, 128, 1024, 65_536].map(|mebibytes| mebibytes << 20) {
            let [alone, beside] =
                [Cgroup::Own, Cgroup::WithCommand].map(|cgroup| MemoryBudget::for_observing(limit, cgroup) as u64);
            assert!(alone < limit / 2 && beside <= (limit / 8).max(LEAST as u64), "{alone} and {beside} of {limit}");
        }
    }

    /// The limit that `inject` writes.
    #[test]
    fn container_of_128_mib_has_room_for_a_large_controller() {
        let MemoryBudget { intake, tables, pages, metrics_page, .. } = sidecar_within(128);
        assert!(intake.total >= 7 * MEBI && intake.connection >= 7 * MEBI / 4, "{intake:?}");
        assert!(tables.reflectors.objects >= 30_000 && tables.rows >= 100 && tables.open_memory >= MEBI, "{tables:?}");
        assert!(pages.number == 2 && pages.columns >= 320 && metrics_page >= 224 << 10, "{pages:?}, {metrics_page}");
    }

    #[test]
    fn little_memory_still_shows_one_page_of_a_usual_terminal() {
        let AttachedPages { number, columns, lines } = sidecar_within(32).pages;
        assert!(number == 1 && columns >= 160 && lines >= 40, "{number} of {columns} by {lines}");
        let AttachedPages { number, columns, lines } = sidecar_within(1).pages;
        assert!(number == 1 && columns >= 80 && lines >= 24, "{number} of {columns} by {lines}");
    }

    fn sidecar_within(mebibytes: u64) -> MemoryBudget {
        let sidecar = MemoryBudget { has_page: false, ..MemoryBudget::default() };
        sidecar.within(MemoryBudget::for_observing(mebibytes << 20, Cgroup::Own))
    }
}
