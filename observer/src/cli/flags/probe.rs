//! Flags that choose the connections a probe reads, and limit its cost.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::api_server::UpstreamId;
use crate::tap::probe::ProbeOptions;

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

    /// If the API server runs on this machine, also probe the server itself, to see clients on other machines. A connection that is
    /// observed at both ends counts once
    #[arg(long)]
    server_ends: bool,

    /// Size of the kernel ring buffer for unread records, in MiB; a power of two
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = ring_mebibytes)]
    ring: u32,
}

impl ProbeFlags {
    /// The options of a probe for connections with these addresses.
    pub(crate) fn options(&self, api_servers: BTreeMap<SocketAddr, UpstreamId>) -> ProbeOptions {
        ProbeOptions {
            api_servers,
            server_ends: self.server_ends,
            ring_bytes: self.ring << 20,
            processes: self.processes.clone(),
            names: self.names.clone(),
            cgroups: self.cgroups.clone(),
            exclude: self.exclude.clone(),
            calls_per_second: self.calls_per_second,
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
        if self.server_ends { format!("{whose}; the API server's own end, too") } else { whose }
    }

    fn is_one(&self) -> bool {
        self.processes.len() == 1 && self.names.is_empty() && self.cgroups.is_empty()
    }
}

/// Parses the size of the ring buffer for clap, which adds the flag to an error.
fn ring_mebibytes(text: &str) -> Result<u32, String> {
    let expected = || "expected a power of two from 1 to 1024".to_owned();
    text.parse().ok().filter(|ring: &u32| ring.is_power_of_two() && *ring <= 1_024).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
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
        ] {
            let line = Line::parse_from([&["probe"], arguments].concat());
            assert_eq!(line.flags.whose(), expected);
        }
    }

    #[test]
    fn ring_size_must_be_a_power_of_two() {
        for (text, expected) in [("1", Some(1)), ("1024", Some(1_024)), ("0", None), ("3", None), ("2048", None), ("x", None)] {
            assert_eq!(ring_mebibytes(text).ok(), expected, "{text}");
        }
    }
}
