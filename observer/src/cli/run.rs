//! `watchtap run`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use super::demo;
use super::flags::{InClusterFlags, ProfileSourceFlags, UpstreamFlags};
use super::follow::{self, Follow};
use super::place::Place;
use crate::api_server::request::check_answers;
use crate::api_server::{ServiceInPod, name};
use crate::kubeconfig::Kubeconfig;
use crate::log_files::LogZone;
use crate::memory_budget::MemoryBudget;
use crate::pipeline::BesideLogs;
use crate::session::{Bound, ContainerPort};

/// Proxies all clients that use the kubeconfig written by watchtap, and shows live which layer answered each list, get and watch.
///
/// On a terminal, it shows a live page (? shows the keys, q quits). Elsewhere, or with --lines, it prints one line per event.
///
/// watchtap sees only clients that connect through it: it writes a kubeconfig for them and prints its path. Every byte is passed on
/// unchanged. The first Ctrl-C (or SIGTERM) stops accepting clients and drains open connections; the second stops at once.
///
/// To each API server in use, watchtap itself sends GET /version (again with your credentials if anonymous requests are refused) and
/// GET /metrics with your credentials. The report does not count them.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap run
  watchtap run --context kind-dev --report report.txt
  watchtap run --events - | jq 'select(.event == \"request\" and .verdict.served_from == \"Etcd\")'
  watchtap run --upstream https://10.0.0.1:6443 --upstream-ca ca.crt --listen 127.0.0.1:7443

  # Beside the audit log of a local API server:
  watchtap run --context kind-dev --audit-log audit.log

  In a pod, as `watchtap inject` writes it into the manifest:
  watchtap run --in-cluster --container app=16443 --metrics [::]:9643

EXIT CODES:
  0    stopped on request
  1    watchtap failed
  2    usage error
  130  stopped at once by a second signal (with --in-cluster: 0, and a second SIGTERM changes nothing)")]
pub(super) struct Run {
    #[command(flatten)]
    follow: Follow,

    #[command(flatten)]
    upstream: UpstreamFlags,

    #[command(flatten)]
    in_cluster: InClusterFlags,

    #[command(flatten)]
    profiles: ProfileSourceFlags,

    /// Join the requests with those in this log of the API server, by audit ID, as it grows: it has the user, the time in the API server, and proofs
    /// of the layer. Repeat the flag for several logs. Everything shown is a second late then
    #[arg(long, value_name = "FILE", conflicts_with = "in_cluster")]
    audit_log: Vec<PathBuf>,

    /// Run the demo instead if there is no kubeconfig or its current cluster does not answer
    #[arg(long, hide = cfg!(not(feature = "demo")))]
    or_demo: bool,
}

impl Run {
    pub(super) fn run(&self) -> ExitCode {
        follow::to_the_end(self.follow())
    }

    async fn follow(&self) -> Result<ExitCode> {
        if let Some(containers) = self.in_cluster.containers()? {
            return Box::pin(self.follow_in_pod(containers)).await;
        }
        let kubeconfig = match self.upstream.kubeconfig() {
            found if self.or_demo => match answering(found).await {
                Ok(kubeconfig) => kubeconfig,
                Err(error) => return Box::pin(demo::play_instead(&self.follow, &error)).await,
            },
            found => found?,
        };
        let pairs = kubeconfig.pairs()?;
        let ready = self.follow.ready(Place::Machine)?;
        let beside = self.beside(ready.memory())?;
        let bound = Bound::new(&kubeconfig, pairs, self.upstream.listener_options(), ready.memory())?.beside(beside);
        let Some(mut followed) = ready.begin("run", bound, self.profiles.source()).await? else { return Ok(ExitCode::SUCCESS) };
        followed.asked_to_end().await;
        followed.end().await
    }

    /// The logs of the API server, at their ends; `None` without them.
    fn beside(&self, memory: &MemoryBudget) -> Result<Option<BesideLogs>> {
        let logs = &self.audit_log;
        let open = || BesideLogs::open(logs, LogZone::default(), memory.awaiting_process);
        Ok((!logs.is_empty()).then(open).transpose()?)
    }

    async fn follow_in_pod(&self, containers: &[ContainerPort]) -> Result<ExitCode> {
        let service = ServiceInPod::required().context("--in-cluster")?;
        let ready = self.follow.ready(Place::Pod)?;
        let with_service_ca = self.in_cluster.with_service_ca();
        let bound = Bound::in_pod(&service, containers, with_service_ca, ready.memory()).context("--in-cluster")?;
        let Some(mut followed) = ready.begin("run", bound, self.profiles.source()).await? else { return Ok(ExitCode::SUCCESS) };
        followed.asked_to_end().await;
        followed.end().await
    }
}

/// The kubeconfig, if its current cluster answers.
async fn answering(found: Result<Kubeconfig>) -> Result<Kubeconfig> {
    let kubeconfig = found?;
    let current = kubeconfig.current()?;
    check_answers(&current).await.with_context(|| format!("{} does not answer", name(&current)))?;
    Ok(kubeconfig)
}
