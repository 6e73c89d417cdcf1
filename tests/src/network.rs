//! Threads in other network namespaces.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _, stdout};
use std::net::Ipv6Addr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use rustix::process::geteuid;
use rustix::thread::LinkNameSpaceType;

use crate::programs;

/// Gives loopback the addresses, and keeps the namespace until stdin ends.
const SET_UP: &str =
    "set -e; ip link set lo up; for address; do ip -6 address add \"$address/128\" dev lo nodad; done; echo ready; read end";

/// A network namespace with a loopback interface and nothing else.
#[derive(Debug)]
pub struct Network(Child);

impl Network {
    /// A network whose loopback interface has these addresses, too. `None`, with a message, where none can be made.
    pub fn with_ipv6(addresses: &[Ipv6Addr]) -> Result<Option<Self>> {
        if !geteuid().is_root() || programs::require("ip", "for addresses").is_err() {
            writeln!(stdout().lock(), "left out: a network of its own needs root and the program ip")?;
            return Ok(None);
        }
        // proc(5): the file exists if the kernel has IPv6.
        if !Path::new("/proc/net/if_inet6").exists() {
            writeln!(stdout().lock(), "left out: this kernel has no IPv6")?;
            return Ok(None);
        }
        let mut command = Command::new(programs::require("unshare", "for a network")?);
        command.args(["--net", "sh", "-c", SET_UP, "sh"]).args(addresses.iter().map(Ipv6Addr::to_string));
        let mut network = Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let mut line = String::new();
        BufReader::new(network.0.stdout.take().context("stdout is a pipe")?).read_line(&mut line)?;
        ensure!(line == "ready\n", "the network cannot be set up");
        Ok(Some(network))
    }

    /// Runs `work` on a thread in this network. Threads and processes that it starts are there, too.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_network(Path::new(&format!("/proc/{}/ns/net", self.0.id())), work)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Runs `work` on a thread in the network of this file. A socket that it opens there stays usable everywhere.
pub(crate) fn in_network<T: Send>(namespace: &Path, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let network = File::open(namespace).with_context(|| format!("there is no network {}", namespace.display()))?;
    let inside = || {
        let kind = Some(LinkNameSpaceType::Network);
        rustix::thread::move_into_link_name_space(network.as_fd(), kind).context("cannot enter the network")?;
        work()
    };
    thread::scope(|scope| scope.spawn(inside).join().map_err(|_panic| anyhow!("a thread in another network panicked"))?)
}
