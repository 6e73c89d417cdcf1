//! The thread that examines processes, and attaches programs to the files that they run.
//!
//! It reads programs, which takes milliseconds each, and longer if they are not in the page cache. So it is separate from the
//! thread that takes records, and it alone owns the attachments. It ends when the sender of orders is gone, and all attachments end
//! with it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::Instant;

use observer_core::observation::Process;
use observer_core::series::ProbeFiles;
use tokio::sync::watch;

use super::connection_checks::ConnectionChecks;
use super::orders::{FieldRecording, Finding, FindingSender, Order};
use super::probed_files::ProbedFiles;
use super::processor_use::ProcessorUse;
use super::readiness::Readiness;
use super::schedule::{Due, Schedule};
use super::watchdog::Heartbeat;
use crate::tap::probe::addresses::FollowedAddresses;
use crate::tap::probe::find::{
    ConnectedSockets, Libraries, OlderConnections, ProgramFile, Selection, installed_libraries, is_connected, process_name,
    program_files, started,
};
use crate::tap::probe::kernel::Programs;
use crate::tap::probe::kernel_clock::kernels_now;
use crate::tap::probe::options::{ProbeOutcome, ServerEnds};

/// Maximum number of orders taken before the next process is examined.
const BATCH: usize = 1_024;

/// The state of the attaching thread. Attachments drop before the sender of findings, so nothing is recorded after the findings
/// end.
#[derive(Debug)]
pub(in crate::tap::probe) struct Attacher {
    files: ProbedFiles,
    readiness: Readiness,
    programs: Arc<Programs>,
    selection: Selection,
    older_connections: OlderConnections,
    connection_checks: ConnectionChecks,
    libraries: Libraries,
    schedule: Schedule,
    addresses: watch::Receiver<Arc<FollowedAddresses>>,
    /// The followed addresses, as last taken.
    api_servers: Vec<SocketAddr>,
    server_ends: ServerEnds,
    /// Maximum number of calls per second of one file's probed functions; 0 for no limit.
    calls_per_second: u32,
    processor_use: ProcessorUse,
    /// Signals that all processes were examined.
    ready: SyncSender<()>,
    heartbeat: Heartbeat,
    findings: FindingSender,
    /// The counts of files that were reported last.
    counts: Option<ProbeFiles>,
}

/// The inputs of the attaching thread.
#[derive(Debug)]
pub(in crate::tap::probe) struct Task {
    pub(in crate::tap::probe) files: ProbedFiles,
    pub(in crate::tap::probe) programs: Programs,
    pub(in crate::tap::probe) selection: Selection,
    /// The followed addresses, and their changes.
    pub(in crate::tap::probe) addresses: watch::Receiver<Arc<FollowedAddresses>>,
    /// The ends at which connections are followed.
    pub(in crate::tap::probe) server_ends: ServerEnds,
    pub(in crate::tap::probe) calls_per_second: u32,
    /// Maximum processor time of this process, in thousandths of a processor; 0 for no limit.
    pub(in crate::tap::probe) processor_budget: u32,
    pub(in crate::tap::probe) heartbeat: Heartbeat,
}

impl Attacher {
    pub(in crate::tap::probe) fn new(task: Task, ready: SyncSender<()>, findings: FindingSender) -> Self {
        let Task { files, programs, selection, mut addresses, server_ends, calls_per_second, processor_budget, heartbeat } = task;
        let api_servers = addresses.borrow_and_update().addresses();
        let (older_connections, schedule) = (OlderConnections::default(), Schedule::new(Instant::now()));
        let libraries = Libraries::excluding(files.excluded().clone());
        let programs = Arc::new(programs);
        Self {
            files,
            readiness: Readiness::start(Arc::clone(&programs)),
            programs,
            selection,
            older_connections,
            connection_checks: ConnectionChecks::default(),
            libraries,
            schedule,
            addresses,
            api_servers,
            server_ends,
            calls_per_second,
            processor_use: ProcessorUse::within(processor_budget),
            ready,
            heartbeat,
            findings,
            counts: None,
        }
    }

    /// Runs until the sender of orders is gone.
    pub(in crate::tap::probe) fn run(mut self, orders: &Receiver<Order>) {
        // Probes installed libraries in advance, unless all processes are selected by PID: those already run, and are examined
        // repeatedly for later libraries.
        if self.selection.may_grow() {
            for library in &installed_libraries() {
                self.heartbeat.beat();
                self.probe(library);
            }
        }
        while self.take_orders(orders) {
            self.heartbeat.beat();
            self.take_addresses();
            self.take_ended();
            self.turn();
        }
        self.report(Finding::Outcome(ProbeOutcome { recording_fields: self.files.recording_fields(), ..ProbeOutcome::default() }));
    }

    /// Takes orders, and waits for the first until other work is due. Returns false when the sender is gone.
    fn take_orders(&mut self, orders: &Receiver<Order>) -> bool {
        match orders.recv_timeout(self.schedule.until(Instant::now())) {
            Ok(order) => self.take(order),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        for _ in 0..BATCH {
            match orders.try_recv() {
                Ok(order) => self.take(order),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        true
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Executed(process) => {
                self.readiness.executed();
                self.renew(process);
                self.schedule.executed(process, Instant::now());
            }
            Order::Exited(process) => {
                self.renew(process);
                self.schedule.exited(process);
            }
            // A reused PID is recognised by the start time of its process.
            Order::Missed => self.schedule.hurry(Instant::now()),
            // The order only wakes this thread.
            Order::Readdressed => {}
        }
    }

    /// Takes changes of the followed addresses. Processes may have connections with new ones, which are observed from now on. So
    /// these are older than their observation, too.
    fn take_addresses(&mut self) {
        if !self.addresses.has_changed().unwrap_or(false) {
            return;
        }
        let followed = self.addresses.borrow_and_update().addresses();
        let added: Vec<SocketAddr> = followed.iter().filter(|address| !self.api_servers.contains(address)).copied().collect();
        self.api_servers = followed;
        if added.is_empty() {
            return;
        }
        self.connection_checks.renew_all();
        let mut connected = ConnectedSockets::with(&added);
        for process in self.older_connections.checked() {
            self.heartbeat.beat();
            self.record_fields_at(process, &mut connected);
        }
        self.report(Finding::Readdressed);
    }

    /// Starts recording the header fields of a process that has connections with new addresses.
    fn record_fields_at(&mut self, process: u32, connected: &mut ConnectedSockets<'_>) {
        let since = kernels_now();
        let sockets = connected.of(process);
        let is_checked = |began| !self.older_connections.is_of_another(process, began);
        if sockets.is_empty() || !started(process).is_some_and(is_checked) {
            return;
        }
        let found = program_files(process, &mut self.libraries).unwrap_or_default();
        let able: Vec<&ProgramFile> = found.iter().filter(|file| self.files.has_fields(file.identity)).collect();
        let identities = able.iter().map(|file| file.identity).collect();
        if !able.is_empty() && self.older_connections.begins_at_new_address(process, identities, sockets) {
            self.start_fields(process, &able, since);
        }
    }

    fn take_ended(&mut self) {
        let Self { files, findings, .. } = self;
        files.take_ended(&mut |finding| report(findings, finding));
    }

    fn turn(&mut self) {
        match self.schedule.next(Instant::now()) {
            None => {}
            Some(Due::Process(process)) => self.examine(process),
            Some(Due::All) => self.schedule.queue_all(processes()),
            Some(Due::AllExamined) => self.all_examined(),
            Some(Due::Given) => self.schedule.queue_given(self.selection.numbers()),
            Some(Due::Calls) => self.limit_cost(),
        }
    }

    fn report_counts(&mut self) {
        let counts = Some(self.files.counts(Instant::now()));
        if self.counts != counts {
            self.counts = counts;
            counts.map(Finding::Files).into_iter().for_each(|finding| self.report(finding));
        }
    }

    fn examine(&mut self, process: u32) {
        if process != std::process::id() && self.selection.may_include(process) {
            let begun = kernels_now();
            // A process that is gone or may not be inspected counts as one without files.
            let found = program_files(process, &mut self.libraries).unwrap_or_default();
            for file in &found {
                self.probe(file);
            }
            self.record_fields(process, &found, begun);
            self.report_unprobed(process, &found);
        }
    }

    /// Reports the files of a process whose TLS cannot be probed, if the process is connected with an API server. Many programs of a
    /// machine have such files, and never connect with one.
    fn report_unprobed(&mut self, process: u32, found: &[ProgramFile]) {
        let Self { files, connection_checks, api_servers, server_ends, findings, .. } = self;
        let unprobed = files.unprobed(found);
        if unprobed.is_empty()
            || !connection_checks.is_due(process, Instant::now())
            || !is_connected(process, api_servers, *server_ends)
        {
            return;
        }
        // A process that is gone has lost its connection, too.
        let Some((began, name)) = started(process).zip(process_name(process)) else { return };
        let client = Process::new(process, began, name);
        for file in unprobed {
            files.report_client(file, &client, &mut |finding| report(findings, finding));
        }
    }

    fn probe(&mut self, file: &ProgramFile) {
        let Self { programs, files, findings, .. } = self;
        files.probe(file, programs, &mut |finding| report(findings, finding));
    }

    /// Starts recording the header fields of a process that had connections before its files were probed. Its examination began at
    /// `since`, by the kernel's clock.
    fn record_fields(&mut self, process: u32, found: &[ProgramFile], since: u64) {
        let Some(began) = started(process) else { return };
        if self.older_connections.is_of_another(process, began) {
            self.renew(process);
        }
        let Self { files, older_connections, api_servers, .. } = self;
        let able: Vec<&ProgramFile> = found.iter().filter(|file| files.has_fields(file.identity)).collect();
        let probed = able.iter().filter_map(|file| files.probed_since(file.identity)).max();
        let identities = || able.iter().map(|file| file.identity).collect();
        if !probed.is_some_and(|probed| older_connections.begins(process, began, identities(), probed, api_servers)) {
            return;
        }
        self.start_fields(process, &able, since);
    }

    fn start_fields(&mut self, process: u32, able: &[&ProgramFile], since: u64) {
        // The finding is sent before the first field can come. Its time is before all records of connections through files that
        // this examination probed.
        self.report(Finding::FieldRecording(FieldRecording { process, is_on: true, at: since }));
        let mut are_recorded = false;
        for file in able {
            match self.files.probe_fields(file, &self.programs) {
                Ok(()) => are_recorded = true,
                Err(error) if error.is_gone() => {}
                Err(error) => {
                    let why = format!("{error}; header fields of its older connections stay unknown");
                    self.report(Finding::NotProbed { file: file.name.clone(), why });
                }
            }
        }
        if !are_recorded {
            self.stop_fields(process);
        }
    }

    /// Notes that the PID now belongs to another process or another program, or to none.
    fn renew(&mut self, process: u32) {
        self.older_connections.renew(process);
        self.connection_checks.renew(process);
        self.stop_fields(process);
    }

    fn stop_fields(&mut self, process: u32) {
        if let Some(files) = self.older_connections.forget(process) {
            for file in files {
                self.files.stop_fields(file);
            }
            self.report(Finding::FieldRecording(FieldRecording { process, is_on: false, at: kernels_now() }));
        }
    }

    fn all_examined(&mut self) {
        for process in self.older_connections.over() {
            self.stop_fields(process);
        }
        self.files.detach_unused();
        self.report_counts();
        // The receiver waits only for the first signal.
        let _gone = self.ready.try_send(());
    }

    fn limit_cost(&mut self) {
        self.files.count_calls(&self.programs);
        if self.calls_per_second != 0 {
            self.detach_busy();
        }
        if let Some(excess) = self.processor_use.excess() {
            let Self { files, findings, .. } = self;
            files.detach_cause(excess, &mut |finding| report(findings, finding));
        }
    }

    fn detach_busy(&mut self) {
        let Self { files, older_connections, findings, calls_per_second, .. } = self;
        let without_fields = files.detach_busy(*calls_per_second, &mut |finding| report(findings, finding));
        let processes: Vec<u32> = without_fields.into_iter().flat_map(|file| older_connections.processes_of(file)).collect();
        for process in processes {
            self.stop_fields(process);
        }
    }

    fn report(&self, finding: Finding) {
        report(&self.findings, finding);
    }
}

fn report(findings: &FindingSender, finding: Finding) {
    // If the receiver is gone, the orders end as well.
    let _gone = findings.send(finding);
}

/// The PIDs of all running processes.
fn processes() -> Vec<u32> {
    let numbers = std::fs::read_dir("/proc").into_iter().flatten();
    numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}
