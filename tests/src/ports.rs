//! Loopback ports that stay reserved while a server is down.
//!
//! Port 0 would pick an ephemeral port. While the server restarts, any outgoing connection could take such a port, and a client
//! that keeps dialing it could even connect to itself. So the ports lie below the ephemeral range, and a lock file per port keeps
//! parallel clusters apart.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};

use anyhow::{Context, Result};

use crate::folders;

/// Linux assigns 32768 and above to outgoing connections.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A loopback port that no other cluster on this machine takes while this value lives.
#[derive(Debug)]
pub struct Port {
    number: u16,
    _lock: File,
}

impl Port {
    /// Reserves a port that has no listener now.
    pub fn reserve() -> Result<Self> {
        let locks = folders::cluster_cache().join("ports");
        fs::create_dir_all(&locks).with_context(|| format!("cannot create {}", locks.display()))?;
        let start = RandomState::new().hash_one(std::process::id()) % u64::from(COUNT);
        for step in 0..COUNT {
            let offset = (start + u64::from(step)) % u64::from(COUNT);
            let number = FIRST + u16::try_from(offset)?;
            let lock = File::create(locks.join(number.to_string()))?;
            if lock.try_lock().is_ok() && is_free(number) {
                return Ok(Self { number, _lock: lock });
            }
        }
        anyhow::bail!("no free loopback port from {FIRST} on")
    }

    /// Port number.
    pub fn number(&self) -> u16 {
        self.number
    }
}

fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}
