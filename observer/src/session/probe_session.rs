//! One run with the probe: attaches it, observes, and returns the outcome.

use anyhow::{Context, Result};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::address_renewal::{Listeners, Renewal, Renewed, SystemResolver};
use super::descriptor_limit::DescriptorLimit;
use super::{ObservedServer, ObservedServers};
use crate::api_server::{ProfileSource, request};
use crate::intake::{Intake, Notice};
use crate::memory_budget::MemoryBudget;
use crate::pipeline::{Observing, Outcome, Outputs, Upstream};
use crate::probe_check_result::Requirement;
use crate::tap::Clock;
use crate::tap::probe::{ProbeError, ProbeOptions, ProbeOutcome, ProbeTap, ServerEnds, is_any_listened_on};
use crate::view::counted;

/// A running probe and the receivers of its data.
pub(crate) struct ProbeSession {
    tap: ProbeTap,
    /// Those that a check has found come first. The report has them, too.
    limits: Vec<String>,
    limits_of_check: usize,
    observing: Observing,
    /// Our own requests for the server profiles of the API servers.
    learning: JoinSet<()>,
    renewing: JoinHandle<Renewed>,
    /// Dropped to end `renewing`.
    renews: oneshot::Sender<()>,
    intake: Intake,
    clock: Clock,
}

impl ProbeSession {
    /// Loads the eBPF programs into the kernel, and examines the processes of this machine. A check has found `unmet` before.
    pub(crate) async fn begin(
        servers: &ObservedServers,
        options: ProbeOptions,
        profiles: &ProfileSource,
        outputs: Outputs,
        memory: &MemoryBudget,
        unmet: &[Requirement],
    ) -> Result<Self> {
        // It stays raised until the end.
        let _raised = DescriptorLimit::raise();
        let clock = Clock::start();
        let (intake, receiver) = Intake::new(memory.intake);
        let upstreams: Vec<Upstream> = servers.all().iter().map(ObservedServer::upstream).collect();
        let observing =
            Observing::start(receiver, clock.now(), upstreams, outputs, memory).context("cannot start the observing thread")?;
        let tap_intake = intake.clone();
        let listeners = (options.server_ends != ServerEnds::Ignored).then(|| Listeners::by(is_any_listened_on));
        let tap = spawn_blocking(move || ProbeTap::start(&options, tap_intake, clock)).await?;
        let tap = tap.context("this machine cannot be probed")?;
        let mut learning = JoinSet::new();
        for server in servers.all() {
            let (server, profiles, intake) = (server.clone(), profiles.clone(), intake.clone());
            learning.spawn(async move {
                let profile = Box::new(profiles.learn(server.selected()).await);
                intake.notice(Notice::Profile { at: clock.now(), upstream: server.id(), profile });
            });
        }
        let (renews, stop) = oneshot::channel();
        let renewal = Renewal {
            known: servers.known().clone(),
            names: servers.all().iter().map(|server| (server.id(), server.name().to_owned())).collect(),
            slice: servers.in_slice().cloned(),
            resolver: Box::new(SystemResolver),
            listeners,
            addresses: tap.addresses(),
            intake: intake.clone(),
        };
        let renewing = tokio::spawn(renewal.run(stop));
        let mut limits: Vec<String> = unmet.iter().filter_map(Requirement::limit).collect();
        let limits_of_check = limits.len();
        let is_new = |limit: &&String| !unmet.iter().any(|requirement| requirement.is_cause_of(limit));
        limits.extend(tap.limits().iter().filter(is_new).cloned());
        Ok(Self { tap, limits, limits_of_check, observing, learning, renewing, renews, intake, clock })
    }

    /// The probe's limitations on this machine, one sentence each.
    pub(crate) fn limits(&self) -> &[String] {
        &self.limits
    }

    /// The limitations that no check had found before.
    pub(crate) fn limits_of_probe(&self) -> &[String] {
        self.limits.get(self.limits_of_check..).unwrap_or_default()
    }

    /// Waits until the probe fails.
    pub(crate) async fn failed(&self) {
        self.tap.failed().await;
    }

    /// Stops the probe, then decodes everything that it recorded. Returns the outcome, and the probe's own result.
    pub(crate) async fn end(self) -> Result<(Outcome, Result<ProbeOutcome, ProbeError>)> {
        let Self { tap, limits, limits_of_check: _, observing, mut learning, renewing, renews, intake, clock } = self;
        intake.notice(Notice::ShutdownRequested { at: clock.now() });
        drop(intake);
        drop(renews);
        // Without it, everything else is reported.
        let Renewed(renewed) = renewing.await.unwrap_or_default();
        let ended = spawn_blocking(|| tap.finish()).await?;
        // These tasks have clones of the intake, and the observing thread ends only when all clones are dropped.
        let asked = async { while learning.join_next().await.is_some() {} };
        if timeout(request::LIMIT, asked).await.is_err() {
            learning.shutdown().await;
        }
        let mut outcome = spawn_blocking(|| observing.finish()).await??;
        outcome.troubles.extend(limits);
        outcome.troubles.extend(renewed);
        let others = ended.as_ref().map_or(0, |ended| ended.other_log_folders);
        if others > 0 {
            let names = counted(others, "name");
            outcome.troubles.push(format!("{names} in the folder of pod logs ignored: the kubelet does not give such names"));
        }
        outcome.troubles.extend(ended.as_ref().err().map(ToString::to_string));
        Ok((outcome, ended))
    }
}
