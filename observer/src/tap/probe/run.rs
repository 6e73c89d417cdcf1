//! The thread that probes.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use observer_core::time::Timestamp;
use observer_ebpf::{FILTER_SERVER_ENDS, Filter, Life, LifeKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::assembly::{Answer, Assembly, Limits};
use super::containers::Containers;
use super::files::{NotProbed, ProbedFiles};
use super::installed::installed_libraries;
use super::kernel::{KernelError, Options, Programs};
use super::late::LateProcesses;
use super::libraries::Libraries;
use super::limit;
use super::namespace::{self, FIRST_PID_NAMESPACE};
use super::never::NeverProbed;
use super::options::{ProbeError, ProbeOptions, ProbeOutcome};
use super::program_file::ProgramFile;
use super::program_files::program_files;
use super::selection::Selection;
use super::telling::{Telling, missed};
use crate::intake::Intake;
use crate::tap::Clock;

/// The programs wake nobody for a record: the reader looks so often.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// When a process that executed a program is looked at again: its libraries are loaded by then, or those that it loads later.
const LOOK_AGAIN: [Duration; 5] =
    [Duration::ZERO, Duration::from_millis(20), Duration::from_millis(60), Duration::from_millis(200), Duration::from_secs(1)];
/// All processes are looked at so often, for libraries that were loaded late.
const LOOK_AT_ALL: Duration = Duration::from_secs(5);
/// Those that are selected by number are few, and looked at more often for them.
const LOOK_AT_GIVEN: Duration = Duration::from_secs(1);
/// So often it is looked for files that are called too often, and what was missed is told, if anything was.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Records and beginnings that are taken before the other is looked at.
const BATCH: usize = 4_096;
/// Ends that wait until there is nothing else to take; with more they wait no longer.
const MAX_ENDS: usize = 65_536;
/// Processes that wait to be looked at again; beyond that, looking at all of them finds them.
const MAX_WAITING: usize = 4_096;

/// A probe that runs. Dropped, it ends.
#[derive(Debug)]
pub struct ProbeTap {
    limits: Vec<String>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<ProbeOutcome>>,
}

impl ProbeTap {
    /// Loads the programs, attaches them to what runs now, and starts the thread that takes what they record.
    ///
    /// # Errors
    ///
    /// Processes that are to be probed and are not there, and what the kernel refuses.
    pub fn start(options: &ProbeOptions, intake: Intake, clock: Clock) -> Result<Self, ProbeError> {
        let selection = Selection::of(options)?;
        let files = ProbedFiles::new(NeverProbed::of(&options.never)?);
        let (namespace_device, namespace_inode) = pid_namespace();
        let flags = selection.flags() | if options.server_ends { FILTER_SERVER_ENDS } else { 0 };
        let mut programs = Programs::load(&Options {
            ring_bytes: options.ring_bytes,
            filter: Filter { flags, own: std::process::id(), namespace_device, namespace_inode },
            selected: selection.selected(),
            api_servers: options.api_servers.clone(),
        })?;
        programs.tell_of_processes()?;
        let mut limits = Vec::new();
        if let Err(error) = programs.pair_by_use() {
            limits.push(limit::without(&error, limit::UNPAIRED));
        }
        let mut kept = Limits::default();
        if let Err(error) = programs.tell_of_sockets() {
            limits.push(limit::without(&error, limit::NO_ENDS));
            kept.linger = Duration::ZERO;
        }
        let assembly = Assembly::new(intake.clone(), kept);
        let ends = Arc::new(AtomicBool::new(false));
        let mut probing = Probing {
            clock,
            times: Times::now(clock),
            programs,
            assembly,
            telling: Telling::new(intake, clock),
            selection,
            files,
            late: LateProcesses::default(),
            libraries: Libraries::default(),
            containers: Containers::new(),
            api_servers: options.api_servers.clone(),
            calls_per_second: options.calls_per_second,
            ends: VecDeque::new(),
            lives_until: 0,
            waiting: VecDeque::new(),
            next_look: Instant::now(),
            next_look_at_given: Instant::now(),
            next_telling: Instant::now() + TELL_EVERY,
        };
        // Who is selected by number has begun, and is looked at for libraries that come later.
        if probing.selection.may_grow() {
            probing.probe(&installed_libraries());
        }
        probing.look_at_all();
        let stop = Arc::clone(&ends);
        let run = move || probing.run(&stop);
        let thread = thread::Builder::new().name("probing".to_owned()).spawn(run).map_err(KernelError::Thread)?;
        Ok(Self { limits, ends, thread: Some(thread) })
    }

    /// What this kernel does not do for the probe, and what is not seen for that, a line each.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// Takes what was recorded until now, and ends.
    pub fn finish(mut self) -> ProbeOutcome {
        self.end()
    }

    fn end(&mut self) -> ProbeOutcome {
        self.ends.store(true, Ordering::Release);
        // A thread that panicked has lost what it knew.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for ProbeTap {
    fn drop(&mut self) {
        self.end();
    }
}

struct Probing {
    clock: Clock,
    times: Times,
    programs: Programs,
    assembly: Assembly,
    telling: Telling,
    selection: Selection,
    files: ProbedFiles,
    late: LateProcesses,
    libraries: Libraries,
    containers: Containers,
    api_servers: Vec<SocketAddr>,
    /// How many calls of one file the probes may cost; 0 for any number.
    calls_per_second: u32,
    /// Ends of processes and sockets that are not told to the assembly yet: what was recorded before them comes first.
    ends: VecDeque<Life>,
    /// All ends until then are taken, by the kernel's clock.
    lives_until: u64,
    /// Processes that are to be looked at, and when: in no order of their own.
    waiting: VecDeque<(Instant, u32)>,
    next_look: Instant,
    next_look_at_given: Instant,
    next_telling: Instant,
}

impl Probing {
    fn run(mut self, ends: &AtomicBool) -> ProbeOutcome {
        loop {
            let is_last = ends.load(Ordering::Acquire);
            self.take_lives();
            let taken = self.take_records();
            if taken < BATCH || self.ends.len() > MAX_ENDS {
                tell_of_ends(&mut self.ends, &mut self.assembly, self.times, u64::MAX);
            }
            if taken < BATCH {
                // All that their programs had recorded is taken.
                for file in self.files.take_left() {
                    self.assembly.leave(self.clock.now(), file);
                }
                self.assembly.look(self.clock.now());
                self.assembly.pass(self.clock.now());
                if is_last {
                    self.assembly.finish(self.clock.now());
                    break;
                }
                self.look();
                if self.next_telling <= Instant::now() {
                    self.leave_busy_files();
                    self.tell_what_was_missed();
                }
                self.wait();
            }
        }
        self.tell_what_was_missed();
        ProbeOutcome { telling_fields: self.files.telling_fields() }
    }

    /// Takes records, each behind the ends that came before it: a connection that begins may have the socket and the place in memory of one that has ended.
    fn take_records(&mut self) -> usize {
        let mut taken = 0;
        let mut dismissed = Vec::new();
        loop {
            let mut later = None;
            let Self { programs, assembly, times, containers, ends, lives_until, .. } = self;
            taken += programs.take_records(BATCH.saturating_sub(taken), |record, payload| {
                if record.time > *lives_until {
                    later = Some((*record, payload.to_vec()));
                    return ControlFlow::Break(());
                }
                tell_of_ends(ends, assembly, *times, record.time);
                let container = containers.of_record(record, payload);
                if assembly.take(times.of(record.time), record, payload, container) == Answer::Dismiss {
                    dismissed.push(record.connection);
                }
                ControlFlow::Continue(())
            });
            let Some((record, payload)) = later else { break };
            self.take_lives();
            let Self { assembly, times, containers, ends, .. } = self;
            tell_of_ends(ends, assembly, *times, record.time);
            let container = containers.of_record(&record, &payload);
            if assembly.take(times.of(record.time), &record, &payload, container) == Answer::Dismiss {
                dismissed.push(record.connection);
            }
        }
        for connection in &dismissed {
            self.programs.dismiss(connection);
        }
        taken
    }

    fn take_lives(&mut self) {
        self.lives_until = kernels_now();
        let Self { programs, ends, waiting, .. } = self;
        let now = Instant::now();
        let mut changed = Vec::new();
        programs.take_lives(BATCH, |life| {
            if life.kind == LifeKind::Exec as u32 {
                let room = MAX_WAITING.saturating_sub(waiting.len());
                changed.push(life.process);
                waiting.extend(LOOK_AGAIN.iter().take(room).map(|later| (now + *later, life.process)));
            } else if life.kind == LifeKind::Exit as u32 {
                changed.push(life.process);
                waiting.retain(|(_, process)| *process != life.process);
                ends.push_back(*life);
            } else if life.kind == LifeKind::Socket as u32 {
                ends.push_back(*life);
            }
        });
        for process in changed {
            self.late.renew(process);
            self.leave_fields(process);
        }
    }

    fn leave_busy_files(&mut self) {
        let Self { programs, files, telling, calls_per_second, .. } = self;
        if *calls_per_second > 0 {
            let mut left = |file: &str, why: NotProbed| telling.not_probed(file, &why.to_string());
            files.leave_the_busy(programs, *calls_per_second, &mut left);
        }
    }

    fn tell_what_was_missed(&mut self) {
        self.telling.missed(missed(&self.programs, &self.assembly));
        self.next_telling = Instant::now() + TELL_EVERY;
    }

    /// Looks at processes that are due.
    fn look(&mut self) {
        let now = Instant::now();
        let (due, waiting): (VecDeque<_>, VecDeque<_>) = self.waiting.drain(..).partition(|(when, _)| *when <= now);
        self.waiting = waiting;
        for (_, process) in due {
            self.look_at(process);
        }
        if self.next_look <= now {
            self.look_at_all();
        } else if self.next_look_at_given <= now {
            self.look_at_given();
        }
    }

    fn look_at_all(&mut self) {
        let numbers = std::fs::read_dir("/proc").into_iter().flatten();
        let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        for process in numbers.collect::<Vec<u32>>() {
            self.look_at(process);
        }
        for process in self.late.over(&self.api_servers) {
            self.leave_fields(process);
        }
        self.files.leave_the_unused();
        self.next_look = Instant::now() + LOOK_AT_ALL;
    }

    fn look_at_given(&mut self) {
        for process in self.selection.numbers().collect::<Vec<u32>>() {
            self.look_at(process);
        }
        self.next_look_at_given = Instant::now() + LOOK_AT_GIVEN;
    }

    fn look_at(&mut self, process: u32) {
        if process != std::process::id() && self.selection.may_include(process) {
            // One that is gone, or may not be looked at, has nothing for us.
            let found = program_files(process, &mut self.libraries).unwrap_or_default();
            self.probe(&found);
            self.tell_fields(process, &found);
        }
    }

    /// Has the header fields of a process told, if it had connections before it was probed.
    fn tell_fields(&mut self, process: u32, found: &[ProgramFile]) {
        let Self { programs, files, late, api_servers, telling, assembly, .. } = self;
        let able: Vec<&ProgramFile> = found.iter().filter(|file| files.tells_fields(file.identity)).collect();
        let probed = able.iter().filter_map(|file| files.probed_since(file.identity)).max();
        let identities = || able.iter().map(|file| file.identity).collect();
        if !probed.is_some_and(|probed| late.begins(process, identities(), probed, api_servers)) {
            return;
        }
        for file in able {
            match files.probe_fields(file, programs) {
                Ok(()) => assembly.explain(process, true),
                Err(error) if error.is_gone() => {}
                Err(error) => {
                    telling.not_probed(&file.name, &format!("{error}; header fields of its older connections stay unknown"));
                }
            }
        }
    }

    fn leave_fields(&mut self, process: u32) {
        for file in self.late.forget(process) {
            self.files.leave_fields(file);
        }
        self.assembly.explain(process, false);
    }

    fn probe(&mut self, found: &[ProgramFile]) {
        let Self { programs, files, telling, .. } = self;
        for file in found {
            files.probe(file, programs, &mut |file, why| telling.not_probed(file, &why.to_string()));
        }
    }

    /// Until there is something to take, the programs want it taken, or a process is due.
    fn wait(&self) {
        let next = self.waiting.iter().map(|(when, _)| when.saturating_duration_since(Instant::now())).min();
        let longest = next.unwrap_or(LOOK_EVERY).min(LOOK_EVERY);
        let Ok(timeout) = Timespec::try_from(longest) else { return };
        let mut watched = [PollFd::from_borrowed_fd(self.programs.wakes(), PollFlags::IN)];
        // A signal ends it early, which does no harm.
        let _ready: io::Result<usize> = poll(&mut watched, Some(&timeout)).map_err(Into::into);
    }
}

/// Tells of the ends before a time of the kernel's clock, in their order.
fn tell_of_ends(ends: &mut VecDeque<Life>, assembly: &mut Assembly, times: Times, before: u64) {
    while let Some(life) = ends.pop_front_if(|life| life.time < before) {
        let at = times.of(life.time);
        if life.kind == LifeKind::Exit as u32 {
            assembly.exited(at, life.process);
        } else {
            assembly.socket_changed(at, &life);
        }
    }
}

/// The file of our PID namespace, as device and number; 0 for the first of all, whose numbers are the kernel's own.
fn pid_namespace() -> (u64, u64) {
    namespace::own("pid").filter(|(_, number)| *number != FIRST_PID_NAMESPACE).unwrap_or_default()
}

/// The kernel's clock, as the programs read it.
fn kernels_now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0).saturating_mul(1_000_000_000) + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// From the kernel's clock to ours.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Both at the same moment.
    ours: Timestamp,
    kernels: u64,
}

impl Times {
    fn now(clock: Clock) -> Self {
        Self { ours: clock.now(), kernels: kernels_now() }
    }

    /// What was before stands at the beginning.
    fn of(self, kernels: u64) -> Timestamp {
        self.ours.plus(Duration::from_nanos(kernels.saturating_sub(self.kernels)))
    }
}
