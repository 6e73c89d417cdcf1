//! Decides when each process is examined.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Delays after which a process that executed a program is examined again, since its libraries may be loaded later.
const EXAMINE_AGAIN: [Duration; 4] =
    [Duration::from_millis(20), Duration::from_millis(60), Duration::from_millis(200), Duration::from_secs(1)];
/// Of so many turns, one is for other work than processes that have just executed a program.
const OTHERS_TURN: u32 = 4;
/// How often all processes are examined, for libraries that were loaded late.
const EXAMINE_ALL: Duration = Duration::from_secs(5);
/// Minimum time between the end of an examination of all processes and the next one on request, since processes may start
/// endlessly.
const HURRY: Duration = Duration::from_secs(1);
/// How often processes selected by PID are examined; they are few.
const EXAMINE_GIVEN: Duration = Duration::from_secs(1);
/// How often the calls of files are counted.
const COUNT_CALLS: Duration = Duration::from_secs(1);
/// Maximum number of queued processes that executed a program; the examination of all processes finds the others.
const MAX_QUEUED: usize = 4_096;

/// Work that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Examine a process.
    Process(u32),
    /// List all processes and examine them.
    All,
    /// All listed processes were examined.
    AllExamined,
    /// Examine the processes selected by PID.
    Given,
    /// Count the calls of files.
    Calls,
}

/// All work to come. Each kind of work gets its turn, however much work of the other kinds there is.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Processes that have just executed a program. They come before other work: their first requests are missed until their files
    /// are probed.
    started: VecDeque<u32>,
    /// Processes that executed a program earlier, with the time when each is due, in no order.
    executed: VecDeque<(Instant, u32)>,
    /// Processes that are due at once, in this order.
    queue: VecDeque<u32>,
    turn: u32,
    is_queues_turn: bool,
    are_all_queued: bool,
    /// Whether an examination of all processes was requested after they were listed.
    is_in_a_hurry: bool,
    next_all: Instant,
    next_all_in_a_hurry: Instant,
    next_given: Instant,
    next_calls: Instant,
}

impl Schedule {
    /// All processes are due now.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            started: VecDeque::new(),
            executed: VecDeque::new(),
            queue: VecDeque::new(),
            turn: 0,
            is_queues_turn: false,
            are_all_queued: false,
            is_in_a_hurry: false,
            next_all: now,
            next_all_in_a_hurry: now,
            next_given: now + EXAMINE_GIVEN,
            next_calls: now + COUNT_CALLS,
        }
    }

    /// Notes that a process executed a program.
    pub(super) fn executed(&mut self, process: u32, now: Instant) {
        if self.started.len() < MAX_QUEUED {
            self.started.push_back(process);
        }
        let room = MAX_QUEUED.saturating_sub(self.executed.len());
        self.executed.extend(EXAMINE_AGAIN.iter().take(room).map(|later| (now + *later, process)));
    }

    /// Notes that a process has exited.
    pub(super) fn exited(&mut self, process: u32) {
        self.started.retain(|other| *other != process);
        self.executed.retain(|(_, other)| *other != process);
    }

    /// Requests an examination of all processes soon.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.is_in_a_hurry = true;
        self.next_all = self.next_all.min(self.next_all_in_a_hurry.max(now));
    }

    /// Queues the list of all processes.
    pub(super) fn queue_all(&mut self, processes: impl IntoIterator<Item = u32>) {
        self.queue.extend(processes);
        self.are_all_queued = true;
        self.is_in_a_hurry = false;
    }

    /// Queues the processes selected by PID.
    pub(super) fn queue_given(&mut self, processes: impl IntoIterator<Item = u32>) {
        self.queue.extend(processes);
    }

    /// The next work that is due. `None` if nothing is due; [`until`](Self::until) returns for how long.
    pub(super) fn next(&mut self, now: Instant) -> Option<Due> {
        if self.next_calls <= now {
            self.next_calls = now + COUNT_CALLS;
            return Some(Due::Calls);
        }
        self.turn = self.turn.wrapping_add(1);
        if !self.turn.is_multiple_of(OTHERS_TURN)
            && let Some(process) = self.started.pop_front()
        {
            return Some(Due::Process(process));
        }
        if self.queue.is_empty() {
            if self.are_all_queued {
                self.are_all_queued = false;
                self.next_all_in_a_hurry = now + HURRY;
                self.next_all = if self.is_in_a_hurry { self.next_all_in_a_hurry } else { now + EXAMINE_ALL };
                return Some(Due::AllExamined);
            }
            if self.next_all <= now {
                return Some(Due::All);
            }
            if self.next_given <= now {
                self.next_given = now + EXAMINE_GIVEN;
                return Some(Due::Given);
            }
        }
        self.is_queues_turn = !self.is_queues_turn;
        let process = if self.is_queues_turn {
            self.queue.pop_front().or_else(|| self.take_executed(now))
        } else {
            self.take_executed(now).or_else(|| self.queue.pop_front())
        };
        process.or_else(|| self.started.pop_front()).map(Due::Process)
    }

    /// The time until work is due; zero if work is due now.
    pub(super) fn until(&self, now: Instant) -> Duration {
        if !self.started.is_empty() || !self.queue.is_empty() || self.are_all_queued {
            return Duration::ZERO;
        }
        let executed = self.executed.iter().map(|(when, _)| *when);
        let next = executed.chain([self.next_all, self.next_given, self.next_calls]).min();
        next.map_or(Duration::ZERO, |next| next.saturating_duration_since(now))
    }

    fn take_executed(&mut self, now: Instant) -> Option<u32> {
        let due = self.executed.iter().position(|(when, _)| *when <= now)?;
        self.executed.swap_remove_back(due).map(|(_, process)| process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn all_due(schedule: &mut Schedule, now: Instant) -> Vec<Due> {
        std::iter::from_fn(|| schedule.next(now)).take(100).collect()
    }

    fn examined(begin: Instant) -> Schedule {
        let mut schedule = Schedule::new(begin);
        assert_eq!(schedule.next(begin), Some(Due::All));
        schedule.queue_all([1, 2]);
        assert_eq!(all_due(&mut schedule, begin), [Due::Process(1), Due::Process(2), Due::AllExamined]);
        schedule
    }

    #[test]
    fn executed_process_is_reexamined_until_it_exits() {
        let begin = Instant::now();
        let mut schedule = examined(begin);
        schedule.executed(7, begin);
        schedule.executed(8, begin);
        assert_eq!(all_due(&mut schedule, begin), [Due::Process(7), Due::Process(8)]);
        assert_eq!(schedule.until(begin), 20 * MILLISECOND);
        schedule.exited(8);
        assert_eq!(all_due(&mut schedule, begin + 60 * MILLISECOND), [Due::Process(7), Due::Process(7)]);
        assert_eq!(schedule.until(begin + 60 * MILLISECOND), 140 * MILLISECOND);
    }

    #[test]
    fn endless_new_processes_do_not_starve_other_work() {
        let begin = Instant::now();
        let mut schedule = examined(begin);
        let mut due = Vec::new();
        for process in 0..20_000 {
            let now = begin + process * MILLISECOND;
            schedule.executed(process, now);
            match schedule.next(now) {
                Some(Due::All) => schedule.queue_all([100_001, 100_002]),
                Some(Due::Given) => schedule.queue_given([100_003]),
                Some(Due::Process(process)) if process < 100_000 => {}
                other => due.extend(other),
            }
            assert!(schedule.executed.len() <= MAX_QUEUED && schedule.started.len() <= MAX_QUEUED);
        }
        for (timer, expected) in [(Due::Calls, 19), (Due::AllExamined, 3)] {
            assert_eq!(due.iter().filter(|due| **due == timer).count(), expected, "{timer:?}");
        }
        assert!(due.contains(&Due::Process(100_001)) && due.contains(&Due::Process(100_003)));
        assert!(schedule.executed.len() > 1_000, "it has more to do than it can");
    }

    #[test]
    fn new_process_is_examined_before_the_processes_in_the_queue() {
        let begin = Instant::now();
        let mut schedule = Schedule::new(begin);
        assert_eq!(schedule.next(begin), Some(Due::All));
        schedule.queue_all(1..=100);
        for process in 200..300 {
            schedule.executed(process, begin);
            let turns = (0..2).filter_map(|_| schedule.next(begin));
            assert!(turns.collect::<Vec<_>>().contains(&Due::Process(process)), "{process}");
        }
    }

    #[test]
    fn all_processes_are_examined_at_intervals_or_on_request() {
        let begin = Instant::now();
        let mut schedule = examined(begin);
        let timers =
            |schedule: &mut Schedule, now| all_due(schedule, now).into_iter().filter(|due| *due != Due::Calls).collect::<Vec<_>>();
        assert_eq!(timers(&mut schedule, begin + EXAMINE_ALL.checked_sub(MILLISECOND).unwrap()), [Due::Given]);
        let later = begin + 2 * HURRY;
        schedule.hurry(later);
        assert_eq!(schedule.until(later), Duration::ZERO);
        assert_eq!(schedule.next(later), Some(Due::All));
        schedule.queue_all([3]);
        assert_eq!(timers(&mut schedule, later), [Due::Process(3), Due::AllExamined]);
        assert_eq!(schedule.next(begin + 3 * EXAMINE_ALL), Some(Due::Calls));
        assert_eq!(schedule.next(begin + 3 * EXAMINE_ALL), Some(Due::All));
    }

    #[test]
    fn full_examinations_run_at_most_once_a_second() {
        let begin = Instant::now();
        let mut schedule = examined(begin);
        let mut examined = Vec::new();
        for millisecond in 1..=5_000 {
            let now = begin + millisecond * MILLISECOND;
            schedule.hurry(now);
            while let Some(due) = schedule.next(now) {
                if due == Due::All {
                    schedule.queue_all([1]);
                    examined.push(millisecond);
                }
                // An examination is also requested while the processes are being examined.
                schedule.hurry(now);
            }
        }
        assert_eq!(examined, [1_000, 2_000, 3_000, 4_000, 5_000]);
    }

    #[test]
    fn request_during_an_examination_causes_another_one() {
        let begin = Instant::now();
        let mut schedule = Schedule::new(begin);
        assert_eq!(schedule.next(begin), Some(Due::All));
        schedule.queue_all([1]);
        schedule.hurry(begin);
        assert_eq!(all_due(&mut schedule, begin), [Due::Process(1), Due::AllExamined]);
        assert!(!all_due(&mut schedule, begin + HURRY.checked_sub(MILLISECOND).unwrap()).contains(&Due::All));
        assert!(all_due(&mut schedule, begin + HURRY).contains(&Due::All));
    }
}
