//! The records of the programs.

use std::ops::ControlFlow;
use std::os::fd::{AsFd as _, BorrowedFd};

use aya::maps::{HashMap as KernelHashMap, MapData, PerCpuArray, RingBuf};
use observer_ebpf::{Connection, ConnectionAddress, ConnectionKey, LifetimeEvent, Loss, Record, Verdict};

/// Key and value of the map of connections, in bytes.
type Connections = KernelHashMap<MapData, [u8; size_of::<ConnectionAddress>()], [u8; size_of::<Connection>()]>;
/// `BPF_EXIST` of `include/uapi/linux/bpf.h`: replaces a value only if the map has its key.
const EXISTING: u64 = 2;

/// The rings that the programs write, and their other maps.
pub struct Recorded {
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
