//! Flags that choose the connections a probe reads, and limit its cost.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use observer_core::observer::Limits;
use observer_core::series::{ClientLabel, ClientLabels};
use rustix::system::uname;

use crate::api_server::UpstreamId;
use crate::intake::ProbeLimits;
use crate::tap::probe::kernel::{AttachBy, PairBy};
use crate::tap::probe::{ProbeOptions, ServerEnds};

/// The processes to probe, and the limits of the probe.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProbeFlags {
    /// Probe only the process with this ID, and those that another --pid, --comm or --cgroup selects; may be given several times
    #[arg(long = "pid", value_name = "PID")]
    processes: Vec<u32>,

    /// Probe only processes with this name (as in `ps -o comm`; only its first 15 bytes count), and those that another --pid, --comm
    /// or --cgroup selects; may be given several times
    #[arg(long = "comm", value_name = "NAME")]
    names: Vec<String>,

    /// Probe only processes in this cgroup or below it, such as kubepods.slice for all pods, and those that another --pid, --comm or
    /// --cgroup selects. PATH is a cgroup directory, or the path in /proc/PID/cgroup; may be given several times
    #[arg(long = "cgroup", value_name = "PATH")]
    cgroups: Vec<PathBuf>,

    /// Exclude a program or library, by its path or its name. The libraries of an excluded program are still probed; may be given
    /// several times
    #[arg(long, value_name = "PATH|NAME")]
    exclude: Vec<String>,

    /// Maximum number of calls per second to the TLS functions of one program or library, over all its processes. A probe adds a few
    /// microseconds to each call. A program or library with more calls is reported and no longer probed; 0 means no limit
    #[arg(long, value_name = "N", default_value_t = ProbeOptions::default().calls_per_second)]
    calls_per_second: u32,

    /// Maximum CPU time of watchtap itself, such as 2 or 500m. If it takes more over five seconds, the program or library that it
    /// records most of is reported and no longer probed; 0 means no limit
    #[arg(long, value_name = "CPUS", default_value = "1", value_parser = thousandths_of_a_processor)]
    cpu_budget: u32,

    /// If the API server runs on this machine, also probe the server itself, to see clients on other machines. A connection that is
    /// observed at both ends counts once, unless its addresses are translated in between. With `alone`, connections count at the
    /// server's end only, so each counts once in any case: also over all machines with an API server
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "added")]
    server_ends: Option<ServerEndsFlag>,

    /// The folder in which the kubelet keeps the logs of pods. The names of its subfolders name the pods of clients; no log is read
    #[arg(long, value_name = "DIR", default_value = ProbeOptions::POD_LOGS)]
    pod_logs: PathBuf,

    /// The name of this node, to name the workloads of static pods [default: the hostname]
    #[arg(long, value_name = "NAME")]
    node_name: Option<String>,

    /// Labels that metrics of clients also have: namespace, pod, container or workload of a client in a pod, and unit of a process
    /// of the host, for `client_namespace` and so on; may be given several times, or separated by commas. Each pod of a client then
    /// has series of its own (docs/metrics.md)
    #[arg(long, value_name = "LABEL", value_delimiter = ',', value_parser = client_label)]
    metrics_client_label: Vec<ClientLabel>,

    /// Size of the kernel ring buffer for unread records, in MiB; a power of two [default: 16, or less within a memory limit]
    #[arg(long, value_name = "MIB", value_parser = ring_mebibytes)]
    ring: Option<u32>,

    /// How the programs are attached to files, instead of the best way that works here: multi-link, event-links or event-copies
    #[arg(long, value_name = "WAY", hide = true, value_parser = attach_by)]
    attach_by: Option<AttachBy>,

    /// How the sockets of threads are found, instead of the best way that works here: tracepoints or returns
    #[arg(long, value_name = "WAY", hide = true, value_parser = pair_by)]
    pair_by: Option<PairBy>,
}

/// The ends at which connections count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ServerEndsFlag {
    /// The client's end and the server's
    Added,
    /// The server's end only
    Alone,
}

impl ProbeFlags {
    /// The memory of the probe without a limit. A memory limit does not reduce a ring buffer whose size is given.
    pub(crate) fn most(&self) -> ProbeLimits {
        let usual = ProbeLimits::default();
        self.ring.map(|mebibytes| mebibytes << 20).map_or(usual, |ring| ProbeLimits { ring, least_ring: ring, ..usual })
    }

    /// The folder with the logs of pods.
    pub(crate) fn pod_logs(&self) -> PathBuf {
        self.pod_logs.clone()
    }

    /// The tables of the Observer without a memory limit, with the labels of clients.
    pub(crate) fn tables(&self) -> Limits {
        let limits = Limits::default();
        let labels = ClientLabels::new(&self.metrics_client_label);
        let series = if labels.is_empty() { limits.series } else { limits.series.with_client_labels(labels) };
        Limits { series, ..limits }
    }

    /// The options of a probe for connections with these addresses.
    pub(crate) fn options(&self, api_servers: BTreeMap<SocketAddr, UpstreamId>, memory: ProbeLimits) -> ProbeOptions {
        ProbeOptions {
            api_servers,
            server_ends: match self.server_ends {
                None => ServerEnds::Ignored,
                Some(ServerEndsFlag::Added) => ServerEnds::Added,
                Some(ServerEndsFlag::Alone) => ServerEnds::Alone,
            },
            memory,
            processes: self.processes.clone(),
            names: self.names.clone(),
            cgroups: self.cgroups.clone(),
            exclude: self.exclude.clone(),
            calls_per_second: self.calls_per_second,
            processor_budget: self.cpu_budget,
            pod_logs: self.pod_logs.clone(),
            node_name: self.node_name.clone().unwrap_or_else(hostname),
            attach_by: self.attach_by,
            pair_by: self.pair_by,
        }
    }

    /// Describes the processes to probe.
    pub(crate) fn whose(&self) -> String {
        let processes = self.processes.iter().map(|process| format!("process {process}"));
        let names = self.names.iter().map(|name| format!("processes named {name}"));
        let cgroups = self.cgroups.iter().map(|cgroup| format!("processes in {}", cgroup.display()));
        let chosen: Vec<String> = processes.chain(names).chain(cgroups).collect();
        let whose = match chosen.as_slice() {
            [] => "all processes are probed, including those that start later".to_owned(),
            chosen => format!("only {} {} probed", chosen.join(", "), if self.is_one() { "is" } else { "are" }),
        };
        match self.server_ends {
            None => whose,
            Some(ServerEndsFlag::Added) => format!("{whose}; the API server's own end, too"),
            Some(ServerEndsFlag::Alone) => format!("{whose}; connections count at the API server's own end only"),
        }
    }

    /// Describes the processes in which connections are read.
    pub(crate) const fn at_ends(&self) -> &'static str {
        match self.server_ends {
            None | Some(ServerEndsFlag::Added) => "in the client processes",
            Some(ServerEndsFlag::Alone) => "in the processes of the API server",
        }
    }

    fn is_one(&self) -> bool {
        self.processes.len() == 1 && self.names.is_empty() && self.cgroups.is_empty()
    }
}

/// The name of this machine; empty if it is unknown.
fn hostname() -> String {
    uname().nodename().to_str().unwrap_or_default().to_owned()
}

/// Parses a label of clients for clap, which adds the flag to an error.
fn client_label(text: &str) -> Result<ClientLabel, String> {
    let known = || ClientLabel::ALL.map(ClientLabel::word).join(", ");
    ClientLabel::ALL.into_iter().find(|label| label.word() == text).ok_or_else(|| format!("expected one of {}", known()))
}

/// Parses a number of processors, as Kubernetes writes it, for clap, which adds the flag to an error.
fn thousandths_of_a_processor(text: &str) -> Result<u32, String> {
    let (number, factor) = text.strip_suffix('m').map_or((text, 1_000), |number| (number, 1));
    let thousandths = number.parse().ok().and_then(|number: u32| number.checked_mul(factor));
    thousandths.ok_or_else(|| "expected a number of CPUs, such as 2, or of thousandths, such as 500m".to_owned())
}

/// Parses the size of the ring buffer for clap, which adds the flag to an error.
fn ring_mebibytes(text: &str) -> Result<u32, String> {
    let expected = || "expected a power of two from 1 to 1024".to_owned();
    text.parse().ok().filter(|ring: &u32| ring.is_power_of_two() && *ring <= 1_024).ok_or_else(expected)
}

fn attach_by(name: &str) -> Result<AttachBy, String> {
    AttachBy::ALL.into_iter().find(|by| by.name() == name).ok_or_else(|| format!("no way is called {name}"))
}

fn pair_by(name: &str) -> Result<PairBy, String> {
    PairBy::ALL.into_iter().find(|by| by.name() == name).ok_or_else(|| format!("no way is called {name}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: ProbeFlags,
    }

    #[test]
    fn selected_processes_are_described_in_words() {
        for (arguments, expected) in [
            (&[][..], "all processes are probed, including those that start later"),
            (&["--pid", "7"], "only process 7 is probed"),
            (
                &["--pid", "7", "--comm", "kubelet", "--cgroup", "/a"],
                "only process 7, processes named kubelet, processes in /a are probed",
            ),
            (&["--server-ends", "--comm", "kubelet"], "only processes named kubelet are probed; the API server's own end, too"),
            (
                &["--server-ends=alone"],
                "all processes are probed, including those that start later; connections count at the API server's own end only",
            ),
        ] {
            let line = Line::parse_from([&["probe"], arguments].concat());
            assert_eq!(line.flags.whose(), expected);
        }
    }

    #[test]
    fn given_ring_is_not_reduced() {
        for (arguments, most, reduced) in [(&[][..], 16 << 20, 64 << 10), (&["--ring", "2"], 2 << 20, 2 << 20)] {
            let memory = Line::parse_from([&["probe"], arguments].concat()).flags.most();
            assert_eq!((memory.ring, memory.within(0).ring), (most, reduced));
        }
    }

    #[test]
    fn labels_of_clients_are_selected_by_words() {
        let labels = |arguments: &[&str]| -> Vec<&str> {
            let line = Line::try_parse_from([&["probe"], arguments].concat()).unwrap();
            line.flags.tables().series.client_labels.iter().map(ClientLabel::name).collect()
        };
        assert_eq!(labels(&[]), [""; 0]);
        assert_eq!(labels(&["--metrics-client-label", "pod,namespace"]), ["client_namespace", "client_pod"]);
        let all = ["--metrics-client-label", "workload", "--metrics-client-label", "container"];
        assert_eq!(labels(&all), ["client_container", "client_workload"]);
        let error = Line::try_parse_from(["probe", "--metrics-client-label", "node"]).unwrap_err().to_string();
        assert!(error.contains("expected one of namespace, pod, container, workload, unit"), "{error}");
    }

    #[test]
    fn processor_time_is_given_as_in_kubernetes() {
        let default = Line::parse_from(["probe"]).flags.cpu_budget;
        assert_eq!(default, ProbeOptions::default().processor_budget);
        for (text, expected) in
            [("2", Some(2_000)), ("500m", Some(500)), ("0", Some(0)), ("0m", Some(0)), ("", None), ("m", None), ("-1", None)]
        {
            assert_eq!(thousandths_of_a_processor(text).ok(), expected, "{text}");
        }
        let error = thousandths_of_a_processor("4294968").unwrap_err();
        assert!(error.contains("such as 500m"), "{error}");
    }

    #[test]
    fn ring_size_must_be_a_power_of_two() {
        for (text, expected) in [("1", Some(1)), ("1024", Some(1_024)), ("0", None), ("3", None), ("2048", None), ("x", None)] {
            assert_eq!(ring_mebibytes(text).ok(), expected, "{text}");
        }
    }
}
