//! A running probe.
//!
//! It has three threads, so that slow work does not delay emptying the kernel's rings:
//!
//! - The collecting thread takes records and lifetime events, puts them in order and passes them to the intake. It owns the rings
//!   and maps ([`Recorded`](super::kernel::Recorded)).
//! - The attaching thread finds and reads the files of processes, and attaches and detaches programs. It owns the programs
//!   ([`Programs`]) and all attachments.
//! - A third one keeps the kernel ready to attach (`attach/readiness.rs`). The attaching thread starts and ends it.
//!
//! Two bounded channels connect the first two (`attach/orders.rs`): orders name processes to examine, and findings report the
//! results. The collecting thread never waits for the attaching one. At a shutdown, the collecting thread closes the channel of
//! orders, so the attaching thread ends, and all attachments end with it. That closes the channel of findings, and the collecting
//! thread takes the rest of the rings. A panic of the attaching thread has the same effect. A panic of the collecting thread also
//! ends the attaching one, but the rest of the rings is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use observer_ebpf::{FILTER_SERVER_ENDS, Filter};
use tokio::sync::watch;

use super::addresses::{Readdressing, ServerAddresses};
use super::assembly::{Assembly, Limits};
use super::attach::{Attacher, Heartbeat, Orders, ProbedFiles, Task, findings};
use super::collect::{Collector, InOrder, Reporter, Wakeups};
use super::error::ProbeError;
use super::find::namespace::{self, INITIAL_PID_NAMESPACE};
use super::find::{Containers, ExcludedFiles, Selection};
use super::kernel::{Options, Programs};
use super::kernel_clock::Times;
use super::limit;
use super::options::{ProbeOptions, ProbeOutcome, ServerEnds};
use crate::intake::Intake;
use crate::tap::Clock;

/// Maximum wait for the first examination of all processes, which reads each running program.
const FIRST_EXAMINATION: Duration = Duration::from_mins(2);

/// A running probe; dropping it ends it.
#[derive(Debug)]
pub struct ProbeTap {
    limits: Vec<String>,
    addresses: ServerAddresses,
    is_asked_to_end: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<ProbeOutcome, ProbeError>>>,
    /// Closes when the thread ends.
    over: watch::Receiver<()>,
}

impl ProbeTap {
    /// Loads the programs, attaches them to the files of running processes, and starts the threads.
    ///
    /// # Errors
    ///
    /// A target of the options does not exist, or the kernel refuses a step.
    pub fn start(options: &ProbeOptions, intake: Intake, clock: Clock) -> Result<Self, ProbeError> {
        let (servers, receiver) = watch::channel(options.api_servers.clone());
        let (readdressing, api_servers, followed) = Readdressing::of(receiver);
        let selection = Selection::of(options)?;
        let excluded = ExcludedFiles::of(&options.exclude)?;
        let namespace_inode = pid_namespace();
        let has_server_ends = options.server_ends != ServerEnds::Ignored;
        let flags = selection.flags() | if has_server_ends { FILTER_SERVER_ENDS } else { 0 };
        let (mut programs, recorded) = Programs::load(&Options {
            ring_bytes: options.memory.ring,
            filter: Filter { flags, own: std::process::id(), namespace_inode },
            selected: selection.selected(),
            api_servers,
            attach_by: options.attach_by,
        })?;
        let wakeups = Wakeups::of(recorded.rings()).map_err(ProbeError::Wakeups)?;
        programs.report_processes()?;
        let mut limits = Vec::new();
        if namespace_inode != 0 {
            limits.push(format!("watchtap is not in the initial PID namespace: {}", limit::OTHER_PID_NAMESPACE));
        }
        if let Err(error) = programs.pair_by_use(options.pair_by) {
            limits.push(limit::without(&error, limit::UNPAIRED));
        }
        let mut kept = Limits::within(options.memory);
        if let Err(error) = programs.report_sockets() {
            limits.push(limit::without(&error, limit::NO_ENDS));
            kept.linger = Duration::ZERO;
        }
        let mut assembly = Assembly::new(intake.clone(), options.api_servers.clone(), kept);
        if options.server_ends == ServerEnds::Alone {
            assembly = assembly.with_server_ends_alone();
        }
        let (ready, is_ready) = sync_channel(1);
        let (orders, given) = Orders::new();
        let (found, findings) = findings();
        let ProbeOptions { calls_per_second, processor_budget, .. } = *options;
        let heartbeat = Heartbeat::now();
        let task = Task {
            files: ProbedFiles::new(excluded, assembly.work()),
            programs,
            selection,
            addresses: followed.clone(),
            server_ends: options.server_ends,
            calls_per_second,
            processor_budget,
            heartbeat: heartbeat.clone(),
        };
        let attacher = Attacher::new(task, ready, found);
        // The collecting thread sees from the findings how this thread ended.
        Builder::new().name("probe-attach".to_owned()).spawn(move || attacher.run(&given)).map_err(ProbeError::Thread)?;
        let addresses = ServerAddresses::new(servers, followed, assembly.activity());
        let containers = Containers::new(options.pod_logs.clone(), options.node_name.clone());
        let in_order = InOrder::new(Times::now(clock), assembly, containers);
        let reporter = Reporter::new(intake, clock);
        let collector = Collector { clock, recorded, wakeups, in_order, readdressing, reporter, orders, findings, heartbeat };
        let mut tap = Self::of_thread(limits, addresses, move |is_asked| collector.run(is_asked))?;
        match is_ready.recv_timeout(FIRST_EXAMINATION) {
            Ok(()) => Ok(tap),
            Err(RecvTimeoutError::Timeout) => {
                tap.limits.push(limit::NOT_EXAMINED.to_owned());
                Ok(tap)
            }
            // The attaching thread has failed.
            Err(RecvTimeoutError::Disconnected) => tap.finish().and(Err(ProbeError::Failed)),
        }
    }

    fn of_thread(
        limits: Vec<String>,
        addresses: ServerAddresses,
        run: impl FnOnce(&AtomicBool) -> Result<ProbeOutcome, ProbeError> + Send + 'static,
    ) -> Result<Self, ProbeError> {
        let is_asked_to_end = Arc::new(AtomicBool::new(false));
        let is_asked = Arc::clone(&is_asked_to_end);
        let (runs, over) = watch::channel(());
        let run = move || {
            // Dropped when this thread ends, even by a panic.
            let _runs = runs;
            run(&is_asked)
        };
        let thread = Builder::new().name("probe-collect".to_owned()).spawn(run).map_err(ProbeError::Thread)?;
        Ok(Self { limits, addresses, is_asked_to_end, thread: Some(thread), over })
    }

    /// Missing kernel features or targets, each with a description of what is not seen because of it.
    pub fn limits(&self) -> &[String] {
        &self.limits
    }

    /// The addresses of the API servers, which may change.
    pub fn addresses(&self) -> ServerAddresses {
        self.addresses.clone()
    }

    /// Waits until the probe ends by itself; [`finish`](Self::finish) then returns the reason. Cancel-safe.
    pub async fn failed(&self) {
        let mut over = self.over.clone();
        while over.changed().await.is_ok() {}
    }

    /// Takes everything recorded until now, and ends the probe. It takes about a second at most.
    ///
    /// # Errors
    ///
    /// [`ProbeError::Failed`] if one of its threads panicked.
    pub fn finish(mut self) -> Result<ProbeOutcome, ProbeError> {
        self.end().unwrap_or(Err(ProbeError::Failed))
    }

    /// `None` if it has ended before.
    fn end(&mut self) -> Option<Result<ProbeOutcome, ProbeError>> {
        self.is_asked_to_end.store(true, Ordering::Release);
        self.thread.take().map(|thread| thread.join().unwrap_or(Err(ProbeError::Failed)))
    }
}

impl Drop for ProbeTap {
    fn drop(&mut self) {
        self.end();
    }
}

/// Inode of watchtap's PID namespace; 0 for the initial one, whose PIDs are the kernel's own.
fn pid_namespace() -> u64 {
    namespace::own("pid").map(|(_, number)| number).filter(|number| *number != INITIAL_PID_NAMESPACE).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::time::timeout;

    use super::*;
    use crate::tap::probe::addresses::Activity;

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn panicked_probe_thread_is_a_failure_before_shutdown() {
        let tap = ProbeTap::of_thread(Vec::new(), no_addresses(), |_| panic!("a fault of ours")).unwrap();
        timeout(LONG, tap.failed()).await.unwrap();
        assert!(matches!(tap.finish(), Err(ProbeError::Failed)));
    }

    #[tokio::test]
    async fn running_probe_has_not_failed() {
        let (end, is_ended) = sync_channel::<()>(0);
        let run = move |is_asked: &AtomicBool| {
            // Blocks until the sender is dropped.
            let _gone = is_ended.recv();
            assert!(is_asked.load(Ordering::Acquire));
            Ok(ProbeOutcome { recording_fields: 7, ..ProbeOutcome::default() })
        };
        let tap = ProbeTap::of_thread(Vec::new(), no_addresses(), run).unwrap();
        assert!(timeout(Duration::ZERO, tap.failed()).await.is_err());
        tap.is_asked_to_end.store(true, Ordering::Release);
        drop(end);
        assert_eq!(tap.finish().unwrap().recording_fields, 7);
    }
    fn no_addresses() -> ServerAddresses {
        let (servers, receiver) = watch::channel(BTreeMap::new());
        ServerAddresses::new(servers, Readdressing::of(receiver).2, Activity::default())
    }
}
