//! One run with the probe: attaches it, observes, and returns the outcome.

use anyhow::{Context, Result};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::ObservedServer;
use crate::api_server::{ProfileSource, request};
use crate::intake::{Intake, IntakeLimits, Notice};
use crate::pipeline::{Observing, Outcome, Outputs, Upstream};
use crate::tap::Clock;
use crate::tap::probe::{ProbeError, ProbeOptions, ProbeOutcome, ProbeTap};

/// A running probe and the receivers of its data.
pub(crate) struct ProbeSession {
    tap: ProbeTap,
    observing: Observing,
    /// Our own requests for the server profiles of the API servers.
    learning: JoinSet<()>,
    intake: Intake,
    clock: Clock,
}

impl ProbeSession {
    /// Loads the eBPF programs into the kernel, and examines the processes of this machine.
    pub(crate) async fn begin(
        servers: &[ObservedServer],
        options: ProbeOptions,
        profiles: &ProfileSource,
        outputs: Outputs,
    ) -> Result<Self> {
        let clock = Clock::start();
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let upstreams: Vec<Upstream> = servers.iter().map(ObservedServer::upstream).collect();
        let observing = Observing::start(receiver, clock.now(), upstreams, outputs).context("cannot start the observing thread")?;
        let tap_intake = intake.clone();
        let tap = spawn_blocking(move || ProbeTap::start(&options, tap_intake, clock)).await?;
        let tap = tap.context("this machine cannot be probed")?;
        let mut learning = JoinSet::new();
        for server in servers {
            let (server, profiles, intake) = (server.clone(), profiles.clone(), intake.clone());
            learning.spawn(async move {
                let profile = Box::new(profiles.learn(server.selected()).await);
                intake.notice(Notice::Profile { at: clock.now(), upstream: server.id(), profile });
            });
        }
        Ok(Self { tap, observing, learning, intake, clock })
    }

    /// The probe's limitations on this machine, one sentence each.
    pub(crate) fn limits(&self) -> &[String] {
        self.tap.limits()
    }

    /// Waits until the probe fails.
    pub(crate) async fn failed(&self) {
        self.tap.failed().await;
    }

    /// Stops the probe, then decodes everything that it recorded. Returns the outcome, and the probe's own result.
    pub(crate) async fn end(self) -> Result<(Outcome, Result<ProbeOutcome, ProbeError>)> {
        let Self { tap, observing, mut learning, intake, clock } = self;
        intake.notice(Notice::ShutdownRequested { at: clock.now() });
        drop(intake);
        let limits = tap.limits().to_vec();
        let ended = spawn_blocking(|| tap.finish()).await?;
        // These tasks have clones of the intake, and the observing thread ends only when all clones are dropped.
        let asked = async { while learning.join_next().await.is_some() {} };
        if timeout(request::LIMIT, asked).await.is_err() {
            learning.shutdown().await;
        }
        let mut outcome = spawn_blocking(|| observing.finish()).await??;
        outcome.troubles.extend(limits);
        outcome.troubles.extend(ended.as_ref().err().map(ToString::to_string));
        Ok((outcome, ended))
    }
}
