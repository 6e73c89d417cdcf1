//! One run with the proxy: binds the listeners, serves and observes clients, and shuts down.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Runtime;

use super::binding::Surroundings;
use super::descriptor_limit::DescriptorLimit;
use super::pod::ContainerPort;
use super::{Shutdown, TapSet, coverage};
use crate::api_server::{ProfileSource, ServiceInPod};
use crate::client_process::ProcessFinder;
use crate::intake::{Intake, IntakeReceiver, Notice};
use crate::kubeconfig::{Kubeconfig, Pairs, Via};
use crate::memory_budget::MemoryBudget;
use crate::pipeline::{BesideLogs, Observing, Outcome, Outputs};
use crate::tap::Clock;
use crate::tap::proxy::Descriptors;

/// How clients connect to the listeners.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ListenerOptions {
    /// The address of the current context's listener. With `None` or port 0, the run chooses the port.
    pub address: Option<SocketAddr>,
    /// The kubeconfig field that contains the listener's address.
    pub via: Via,
}

/// A run whose listeners are bound, but do not serve yet. Clients that connect wait.
#[derive(Debug)]
pub(crate) struct Bound {
    taps: TapSet,
    descriptor_limit: DescriptorLimit,
    intake: Intake,
    receiver: IntakeReceiver,
    clock: Clock,
    memory: Box<MemoryBudget>,
    beside: Option<Box<BesideLogs>>,
}

/// A run whose clients are served and observed.
#[derive(Debug)]
pub(crate) struct Session {
    taps: TapSet,
    descriptor_limit: DescriptorLimit,
    observing: Observing,
    intake: Intake,
    clock: Clock,
}

/// The runtime of the forwarding threads.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("forwarding")
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

impl Bound {
    /// Binds a listener for each of `pairs`, which are those of `kubeconfig`. Prints the contexts that no listener serves.
    pub(crate) fn new(kubeconfig: &Kubeconfig, pairs: Pairs, options: ListenerOptions, memory: &MemoryBudget) -> Result<Self> {
        let bound = Self::with(memory, |surroundings| TapSet::for_kubeconfig(kubeconfig, pairs, options, surroundings))?;
        coverage::announce(&bound.taps);
        Ok(bound)
    }

    /// Binds a listener for each of the containers of this pod, and writes the files for their clients.
    pub(crate) fn in_pod(
        service: &ServiceInPod,
        containers: &[ContainerPort],
        with_service_ca: bool,
        memory: &MemoryBudget,
    ) -> Result<Self> {
        Self::with(memory, |surroundings| TapSet::in_pod(service, containers, with_service_ca, surroundings))
    }

    fn with(memory: &MemoryBudget, bind: impl FnOnce(Surroundings<'_>) -> Result<TapSet>) -> Result<Self> {
        let clock = Clock::start();
        let (intake, receiver) = Intake::new(memory.intake);
        let processes = ProcessFinder::start().context("cannot start the thread that finds the processes of clients")?;
        let intake = intake.with_processes(processes);
        let descriptor_limit = DescriptorLimit::raise();
        let descriptors = Descriptors::within(descriptor_limit.count());
        let taps = bind(Surroundings { intake: &intake, clock, descriptors: &descriptors })?;
        Ok(Self { taps, descriptor_limit, intake, receiver, clock, memory: Box::new(*memory), beside: None })
    }

    pub(crate) fn taps(&self) -> &TapSet {
        &self.taps
    }

    /// Joins the requests with those in the logs of the API server.
    pub(crate) fn beside(self, beside: Option<BesideLogs>) -> Self {
        Self { beside: beside.map(Box::new), ..self }
    }

    /// Learns the server profiles, then serves.
    pub(crate) async fn serve(self, profiles: ProfileSource, outputs: Outputs) -> Result<Session> {
        let Self { mut taps, descriptor_limit, intake, receiver, clock, memory, beside } = self;
        let upstreams = taps.upstreams(&profiles).await;
        taps.check_unanswering(&upstreams, &profiles);
        let observing = Observing::start_beside(beside, receiver, clock.now(), upstreams, outputs, &memory)
            .context("cannot start the observing thread")?;
        taps.serve(&profiles, &intake, clock);
        Ok(Session { taps, descriptor_limit, observing, intake, clock })
    }
}

impl Session {
    pub(crate) fn taps(&self) -> &TapSet {
        &self.taps
    }

    /// Calls `start`, which starts a command, with the original descriptor limit.
    pub(crate) fn start<T>(&self, start: impl FnOnce() -> T) -> T {
        self.descriptor_limit.as_before(start)
    }

    /// Notes that shutdown was requested: the report shows reflectors as they are now, before their connections close.
    pub(crate) fn note_shutdown(&self) {
        self.intake.notice(Notice::ShutdownRequested { at: self.clock.now() });
    }

    /// Notes that the demo cluster begins a fault. `note` is the message that its script printed before it.
    #[cfg(feature = "demo")]
    pub(crate) fn note_fault(&self, act: &str, note: &str) {
        self.intake.notice(Notice::Fault { at: self.clock.now(), act: act.to_owned(), note: note.to_owned() });
    }

    /// Stops accepting clients. Waits until all connections have ended or `grace` has passed, and until everything is decoded.
    pub(crate) async fn end(self, grace: Duration) -> Result<Outcome> {
        self.shut_down(Shutdown::Drain(grace)).await
    }

    /// Shuts the listeners down, and waits until everything is decoded.
    pub(crate) async fn shut_down(self, shutdown: Shutdown) -> Result<Outcome> {
        self.note_shutdown();
        let Self { taps, descriptor_limit: _, observing, intake, clock: _ } = self;
        // Observing ends when the intake is dropped; from here on only the listeners hold it.
        drop(intake);
        let troubles = taps.stop(shutdown).await?;
        let mut outcome = tokio::task::spawn_blocking(|| observing.finish()).await??;
        outcome.troubles.extend(troubles);
        Ok(outcome)
    }
}
