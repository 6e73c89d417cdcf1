//! The records of the programs.

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::os::fd::{AsFd as _, BorrowedFd};

use aya::maps::{HashMap as KernelHashMap, MapData, PerCpuArray, RingBuf};
use observer_ebpf::{Connection, ConnectionAddress, ConnectionKey, LifetimeEvent, Loss, Record, Verdict};

use super::api_servers::ApiServers;
use super::error::KernelError;

/// Key and value of the map of connections, in bytes.
type Connections = KernelHashMap<MapData, [u8; size_of::<ConnectionAddress>()], [u8; size_of::<Connection>()]>;
/// `BPF_EXIST` of `include/uapi/linux/bpf.h`: replaces a value only if the map has its key.
const EXISTING: u64 = 2;
/// Maximum number of entries that are read to look through the map of connections: twice its size, since it changes meanwhile.
const MAX_ENTRIES: usize = 65_536;

/// The rings that the programs write, and their other maps.
pub struct Recorded {
    pub(super) api_servers: ApiServers,
    pub(super) records: RingBuf<MapData>,
    pub(super) lifetimes: RingBuf<MapData>,
    pub(super) connections: Connections,
    pub(super) losses: PerCpuArray<MapData, u64>,
}

impl Recorded {
    /// Takes the records since the last call in order, up to `most` or until `each` breaks; returns how many it took.
    pub fn take_records(&mut self, most: usize, mut each: impl FnMut(&Record, &[u8]) -> ControlFlow<()>) -> usize {
        let mut taken = 0;
        while taken < most
            && let Some(item) = self.records.next()
        {
            taken += 1;
            if let Some((record, payload)) = Record::read(&item)
                && each(&record, payload).is_break()
            {
                break;
            }
        }
        taken
    }

    /// Takes the lifetime events since the last call in order, up to `most`; returns how many it took.
    pub fn take_lifetimes(&mut self, most: usize, mut each: impl FnMut(&LifetimeEvent)) -> usize {
        let mut taken = 0;
        while taken < most
            && let Some(item) = self.lifetimes.next()
        {
            taken += 1;
            if let Some(event) = LifetimeEvent::read(&item) {
                each(&event);
            }
        }
        taken
    }

    /// Makes the programs stop recording a connection. Has no effect if it is gone already.
    pub fn stop_recording(&mut self, connection: &ConnectionKey) {
        let key = connection.map_key();
        let value = self.connections.get(&key, 0).ok().and_then(|value| connection.with_verdict(value, Verdict::Elsewhere));
        if let Some(value) = value {
            // The connection may be gone meanwhile.
            let _gone = self.connections.insert(key, value, EXISTING);
        }
    }

    /// Adds an address of an API server. Connections that the programs have taken for unwanted before are decided about again when
    /// [`Self::decide_again`] is called.
    pub fn follow(&mut self, address: SocketAddr) -> Result<(), KernelError> {
        self.api_servers.add(address)
    }

    /// Removes an address of an API server. Connections that are recorded already stay recorded.
    pub fn unfollow(&mut self, address: SocketAddr) {
        self.api_servers.remove(address);
    }

    /// Makes the programs forget the unwanted connections with one of these ports at either end; returns how many there were. With
    /// its next call, such a connection is a new one for the programs, like one that is older than they are.
    ///
    /// Removing an entry loses nothing, as its bytes were only counted. To write another verdict would lose counts.
    pub fn decide_again(&mut self, ports: &BTreeSet<u16>) -> usize {
        let entries = self.connections.iter().take(MAX_ENTRIES).flatten();
        // After a removed key, the kernel's iteration begins at the first key again, so all are collected first.
        let unwanted: Vec<_> = entries.filter(|(_, value)| is_unwanted(value, ports)).map(|(key, _)| key).collect();
        for key in &unwanted {
            // It may be gone already.
            let _gone = self.connections.remove(key);
        }
        unwanted.len()
    }

    /// Losses so far, as a number of events or of bytes.
    pub fn lost(&self, loss: Loss) -> u64 {
        self.losses.get(&(loss as u32), 0).map(|values| values.iter().sum()).unwrap_or_default()
    }

    /// The file descriptors of the rings, to wait for records. Each is readable while its ring holds anything; the programs send
    /// wake-ups only for urgent data.
    pub fn rings(&self) -> [BorrowedFd<'_>; 2] {
        [self.records.as_fd(), self.lifetimes.as_fd()]
    }
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recorded").finish_non_exhaustive()
    }
}

/// Whether a value of the map of connections is of an unwanted connection with one of these ports.
fn is_unwanted(value: &[u8; size_of::<Connection>()], ports: &BTreeSet<u16>) -> bool {
    let field = |offset: usize| value.get(offset..).and_then(|rest| rest.first_chunk()).copied().map(u32::from_ne_bytes);
    let both = field(offset_of!(Connection, ports)).unwrap_or_default();
    let is_one = |port: u32| u16::try_from(port).is_ok_and(|port| ports.contains(&port));
    field(offset_of!(Connection, verdict)) == Some(Verdict::Elsewhere as u32) && (is_one(both >> 16) || is_one(both & 0xFFFF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwanted_connections_are_recognized_by_either_port() {
        let value = |verdict: Verdict, ports: u32| {
            let mut value = [0xAA; size_of::<Connection>()];
            value[offset_of!(Connection, verdict)..][..4].copy_from_slice(&(verdict as u32).to_ne_bytes());
            value[offset_of!(Connection, ports)..][..4].copy_from_slice(&ports.to_ne_bytes());
            value
        };
        let ports = BTreeSet::from([443, 6443]);
        for (verdict, local, remote, expected) in [
            (Verdict::Elsewhere, 40_000, 6443, true),
            (Verdict::Elsewhere, 443, 40_000, true),
            (Verdict::Elsewhere, 40_000, 8443, false),
            (Verdict::Wanted, 40_000, 6443, false),
            (Verdict::Undecided, 40_000, 6443, false),
            (Verdict::Closed, 40_000, 6443, false),
        ] {
            assert_eq!(is_unwanted(&value(verdict, local << 16 | remote), &ports), expected, "{verdict:?} {local} {remote}");
        }
    }
}
