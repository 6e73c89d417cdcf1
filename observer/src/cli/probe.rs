//! `watchtap probe`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use observer_core::series::TapWord;

use super::flags::{ApiServerFlags, AttachFlags, MetricsFlags, ProbeFlags, ProfileSourceFlags, Report, unverified};
use super::node_check::{self, NodeCheck};
use super::place::Place;
use super::recording::{self, Beside, Recording};
use super::shown::{self, Shown};
use super::{available_memory, follow, guidance, probe_check};
use crate::attach::ServedRun;
use crate::memory_budget::MemoryBudget;
use crate::pipeline::{Outcome, Snapshots};
use crate::printable::{Printable, print_message, stderr};
use crate::session::{Ends, ObservedServer, ProbeSession};
use crate::tap::probe::ProbeError;
use crate::view::{Run, counted};

/// Observes clients on this machine without a proxy: eBPF programs read the plaintext in their TLS libraries.
///
/// No client is restarted, redirected or shown another certificate. So a probe also sees clients that cannot use a proxy: the
/// kubelet, scheduler, controller-manager, pods that must not be touched. Connections that are already open are observed from the
/// moment the probe attaches.
///
/// The kernel decides which connections lead to the API server, and only those are read. The traffic is not changed. A probe that
/// falls behind loses data, and reports how much. Every call into a probed TLS library takes a few microseconds longer, also for
/// connections to other servers.
#[derive(Debug, Args)]
#[command(after_help = "WHAT IS SEEN:
  Programs written in Go (crypto/tls), and programs that use OpenSSL or BoringSSL, dynamically or
  statically linked (Python, curl, node). Not seen: rustls, GnuTLS, Java, and Go programs of
  unknown version. Each program that cannot be probed is reported.

WHAT IT TAKES:
  Linux 5.10 or later with BTF on x86-64 or arm64, in the initial user namespace. Kernel
  lockdown must not be in confidentiality mode. Root has every capability that is needed.
  Other users need:
    CAP_BPF, CAP_PERFMON     to load and attach the programs (or CAP_SYS_ADMIN)
    CAP_SYS_ADMIN            the same, with Linux before 6.6
    CAP_SYS_RESOURCE         the same, with Linux before 5.11, if little memory may be locked
    CAP_SYS_PTRACE           to read the processes of other users
    CAP_DAC_READ_SEARCH      to read programs that only their owner may read,
                             and to recognize connections that are already open
    CAP_CHECKPOINT_RESTORE   to reach TLS libraries that were replaced since
                             they were loaded (or CAP_SYS_ADMIN)
  If one of the last three is missing, the probe still runs, but sees less.
  --check lists what is missing on this machine.

EXAMPLES:
  sudo watchtap probe --check
  sudo watchtap probe --kubeconfig /etc/kubernetes/kubelet.conf
  sudo watchtap probe --api-server 10.0.0.1:6443 --comm kubelet --events - | jq .event
  sudo watchtap probe --api-server 10.0.0.1:6443 --server-ends --report report.txt

  In a pod of the DaemonSet, as the chart has it:
  watchtap probe --in-cluster --metrics [::]:9643

EXIT CODES:
  0    stopped on request; with --check, a probe can run, perhaps with limits
  1    watchtap failed; with --check, a probe cannot run
  2    usage error
  130  stopped at once by a second signal (with --in-cluster: 0, and a second SIGTERM changes nothing)")]
pub(super) struct Probe {
    /// Report what this kernel and your privileges allow, how to fix the rest, and which TLS libraries of running processes are
    /// seen. Needs no API server, and records nothing. --format json is for programs (docs/probe-check.md)
    #[arg(long, conflicts_with_all = MEANINGLESS_IN_A_CHECK)]
    check: bool,

    #[command(flatten)]
    api_servers: ApiServerFlags,

    #[command(flatten)]
    flags: ProbeFlags,

    #[command(flatten)]
    recording: Recording,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    profiles: ProfileSourceFlags,

    #[command(flatten)]
    metrics: MetricsFlags,

    #[command(flatten)]
    attach: AttachFlags,
}

/// Flags for a probe that runs. A structure of flags stands here as its clap group, if no other structure is flattened into it.
const MEANINGLESS_IN_A_CHECK: [&str; 16] = [
    "api_servers",
    "in_cluster",
    "no_endpoint_slice_request",
    "KubeconfigFlags",
    "ProbeFlags",
    "report",
    "events",
    "mute",
    "CaptureFlags",
    "OtlpFlags",
    "Shown",
    "no_version_request",
    "no_metrics_request",
    "ProfileFlags",
    "MetricsFlags",
    "AttachFlags",
];

impl Probe {
    pub(super) fn run(&self) -> ExitCode {
        if self.check {
            return probe_check::run(self.recording.format());
        }
        follow::to_the_end(self.follow())
    }

    const fn place(&self) -> Place {
        if self.api_servers.in_cluster() { Place::Pod } else { Place::Machine }
    }

    async fn follow(&self) -> Result<ExitCode> {
        let place = self.place();
        // As in `Follow::ready`, which has the reasons for this order.
        let early = (place == Place::Pod).then(Ends::open).transpose()?;
        let has_page = place == Place::Machine;
        let most =
            MemoryBudget { has_page, probe: Some(self.flags.most()), tables: self.flags.tables(), ..MemoryBudget::default() };
        let memory = available_memory::announced(&most);
        let (report, mut outputs) = self.recording.open(TapWord::Probe, place.report(), Beside::default(), &memory)?;
        let shown = if place == Place::Pod { self.shown.for_a_log() } else { self.shown };
        let snapshots = shown.prepare(&mut outputs, self.recording.takes_stdout(), report.mute());
        let metrics = self.metrics.serve(|| outputs.series(report.mute()), TapWord::Probe, &memory)?;
        let mut ends = early.map_or_else(Ends::open, Ok)?;
        let attach = self.attach.bind(place.attach_socket().as_deref(), || outputs.snapshots(report.mute()), &memory)?;
        let mut unmet = Vec::new();
        if place == Place::Pod {
            match NodeCheck::here(self.flags.pod_logs(), &mut ends).await? {
                NodeCheck::Possible { unmet: found } => unmet = found,
                NodeCheck::Impossible(why) => {
                    // There is no run to attach to, and there are no numbers.
                    drop((attach, outputs));
                    node_check::explain(&why, metrics.as_ref(), &mut ends).await;
                    return Ok(ExitCode::SUCCESS);
                }
                NodeCheck::Ended => return Ok(ExitCode::SUCCESS),
            }
        }
        let beginning = async {
            let servers = self.api_servers.find().await?;
            let options = self.flags.options(servers.addresses(), memory.probe.unwrap_or_default());
            print_message("loading the programs into the kernel and scanning the running processes");
            let probing = ProbeSession::begin(&servers, options, &self.profiles.source(), outputs, &memory, &unmet).await?;
            anyhow::Ok((servers, probing))
        };
        let (servers, probing) = tokio::select! {
            begun = beginning => begun?,
            () = ends.next() => return Ok(ExitCode::SUCCESS),
        };
        if let Some(metrics) = &metrics {
            metrics.note_started();
        }
        let servers = servers.all();
        let hint = attach.as_ref().filter(|_| place == Place::Pod).and_then(|ready| guidance::attach_hint(place, ready.named()));
        self.introduce(servers, hint.as_deref())?;
        // The check has printed the others.
        probing.limits_of_probe().iter().for_each(print_message);
        // It serves until the report is written.
        let _attach = attach.map(|ready| ready.serve(self.served(servers, probing.limits()))).transpose()?.flatten();
        ends.listen_to(self.page(servers, probing.limits(), snapshots));
        tokio::select! {
            () = ends.next() => {}
            () = probing.failed() => {
                // Further output goes to the ordinary screen.
                ends.listen_to(None);
                print_message(format!("{}; the report covers everything seen until then", ProbeError::Failed));
            }
        }
        let (outcome, ended) = tokio::select! {
            ended = probing.end() => ended?,
            () = ends.next_but(place.ignored_at_shutdown()) => {
                print_message("stopped at once: there is no report, and a capture has no end mark");
                return Ok(ExitCode::from(place.exit_code_at_once()));
            }
        };
        write(report, outcome)?;
        Ok(if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The first lines: the API servers, the processes observed, and how to see the live page, if it is not here.
    fn introduce(&self, servers: &[ObservedServer], attach_hint: Option<&str>) -> Result<()> {
        let mut out = Printable::new();
        for server in servers {
            let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
            let addresses = addresses.join(", ");
            let at = match addresses.as_str() {
                "" => " (address unknown)".to_owned(),
                addresses if addresses == server.name() => String::new(),
                addresses => format!(" ({addresses})"),
            };
            out.push_line(format_args!("watchtap probe: observes connections to {}{at}, {}", server.name(), self.flags.at_ends()));
        }
        out.push_line(capitalized(&self.flags.whose()));
        if let Some(hint) = attach_hint {
            out.push_line(hint);
        }
        let end = if self.place() == Place::Pod { "SIGTERM" } else { "Ctrl-C" };
        out.push_line(format_args!("{end} unloads the programs and prints a report · times are UTC · ~ means predicted"));
        out.end_line();
        stderr().print(&out)?;
        let is_asked = self.profiles.source().without_asking().is_none();
        servers.iter().filter(|server| is_asked && !server.is_verified()).for_each(|server| print_message(unverified(server)));
        Ok(())
    }

    fn page(
        &self,
        servers: &[ObservedServer],
        limits: &[String],
        snapshots: Option<Snapshots>,
    ) -> Option<crate::terminal::RunningPage> {
        shown::open_page(&name(servers), self.guidance(limits), snapshots?)
    }

    /// The run, for processes that are attached to it.
    fn served(&self, servers: &[ObservedServer], limits: &[String]) -> ServedRun {
        let notes = limits.to_vec();
        ServedRun {
            subcommand: "probe",
            command: Vec::new(),
            name: name(servers),
            guidance: self.guidance(limits),
            api_servers: servers.iter().map(|server| server.name().to_owned()).collect(),
            silence: silence(),
            notes: Box::new(move || notes.clone()),
        }
    }

    fn guidance(&self, limits: &[String]) -> Vec<String> {
        let mut guidance = vec![
            "Clients on this machine are observed without a proxy.".to_owned(),
            format!("{}.", capitalized(&self.flags.whose())),
            "If a client is missing: watchtap probe --check".to_owned(),
        ];
        guidance.extend_from_slice(limits);
        guidance
    }
}

fn name(servers: &[ObservedServer]) -> String {
    match servers {
        [server] => server.name().to_owned(),
        _ => counted(servers.len() as u64, "API server"),
    }
}

fn silence() -> Vec<String> {
    vec!["No process that a probe can see talked to the API server. watchtap probe --check lists what it sees.".to_owned()]
}

fn capitalized(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn write(report: Report, outcome: Outcome) -> Result<()> {
    let run = Run {
        subcommand: "probe",
        command: Vec::new(),
        exit_code: None,
        silence: silence(),
        budget: None,
        log: None,
        notes: outcome.troubles,
    };
    let snapshot = outcome.snapshot.without_findings(report.mute());
    recording::write(report, &run, &snapshot)
}

#[cfg(test)]
mod tests {
    use clap::{ArgAction, CommandFactory as _, Parser};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        _probe: Probe,
    }

    #[test]
    fn check_conflicts_with_every_flag_but_format() {
        assert!(Line::try_parse_from(["probe", "--check"]).is_ok());
        assert!(Line::try_parse_from(["probe", "--check", "--format", "json"]).is_ok());
        let command = Line::command();
        let others = command.get_arguments().filter(|argument| !["check", "format", "help"].contains(&argument.get_id().as_str()));
        let others: Vec<_> = others.collect();
        assert!(others.len() > 20, "{others:?}");
        for other in others {
            let mut arguments = vec!["probe".to_owned(), "--check".to_owned(), format!("--{}", other.get_long().unwrap())];
            // A value after `=` may be left out.
            let takes_value = matches!(other.get_action(), ArgAction::Set | ArgAction::Append);
            if takes_value && !other.is_require_equals_set() {
                arguments.push(value_of(other.get_id().as_str()).to_owned());
            }
            let error = Line::try_parse_from(&arguments).err().unwrap_or_else(|| panic!("{arguments:?} are taken"));
            assert_eq!(error.kind(), clap::error::ErrorKind::ArgumentConflict, "{arguments:?}: {error}");
        }
    }

    fn value_of(flag: &str) -> &'static str {
        match flag {
            "api_servers" => "10.0.0.1:6443",
            "server_version" => "1.34.2",
            "etcd_version" => "3.5.10",
            "gates" => "WatchList=true",
            "capture_max_size" => "1MiB",
            "metrics" => "127.0.0.1:0",
            "metrics_client_label" => "pod",
            "attach_by" => "event-links",
            "pair_by" => "returns",
            _ => "1",
        }
    }
}
