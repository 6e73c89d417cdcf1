//! Flags that say whose connections a probe reads, and how much it may cost.

use std::net::SocketAddr;

use clap::Args;

use crate::tap::probe::ProbeOptions;

/// What of this machine is probed.
#[derive(Clone, Debug, Args)]
pub(super) struct ProbeFlags {
    /// Follow connections at their API server's end, too, where that runs on this machine: then clients from elsewhere are seen. A connection
    /// that is seen at both ends counts once
    #[arg(long)]
    server_ends: bool,

    /// Memory in which the kernel keeps what was not read yet, in MiB: a power of two
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = ring_mebibytes)]
    ring: u32,
}

impl ProbeFlags {
    /// What the probe is to do for connections with these addresses.
    pub(super) fn options(&self, api_servers: Vec<SocketAddr>) -> ProbeOptions {
        ProbeOptions { api_servers, server_ends: self.server_ends, ring_bytes: self.ring << 20 }
    }

    /// Which processes are probed, in words.
    pub(super) fn whose(&self) -> String {
        let whose = "All processes are looked at, those that are started later too".to_owned();
        if self.server_ends { format!("{whose}; the API server's own end counts as well") } else { whose }
    }
}

/// Reads the size of the ring, for clap, which says which flag was wrong.
fn ring_mebibytes(text: &str) -> Result<u32, String> {
    let expected = || "expected a power of two from 1 to 1024".to_owned();
    text.parse().ok().filter(|ring: &u32| ring.is_power_of_two() && *ring <= 1_024).ok_or_else(expected)
}
