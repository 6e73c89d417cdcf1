//! What the programs record, taken out.

use std::ops::ControlFlow;
use std::os::fd::{AsFd as _, BorrowedFd};

use aya::maps::{HashMap as KernelHashMap, MapData, PerCpuArray, RingBuf};
use observer_ebpf::{Connection, ConnectionAddress, ConnectionKey, Life, Loss, Record, Verdict};

/// Key and value of the map of connections, in bytes.
type Connections = KernelHashMap<MapData, [u8; size_of::<ConnectionAddress>()], [u8; size_of::<Connection>()]>;
/// `BPF_EXIST` of `include/uapi/linux/bpf.h`: only where the key is there already.
const EXISTING: u64 = 2;

/// The rings that the programs write, and the maps beside them.
pub struct Recorded {
    pub(super) records: RingBuf<MapData>,
    pub(super) lives: RingBuf<MapData>,
    pub(super) connections: Connections,
    pub(super) losses: PerCpuArray<MapData, u64>,
}

impl Recorded {
    /// Takes what was recorded since, in its order, up to so many records, or until `each` breaks off; how many there were.
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

    /// Takes the beginnings and ends that were told since, in their order, up to so many; how many there were.
    pub fn take_lives(&mut self, most: usize, mut each: impl FnMut(&Life)) -> usize {
        let mut taken = 0;
        while taken < most
            && let Some(item) = self.lives.next()
        {
            taken += 1;
            if let Some(life) = Life::read(&item) {
                each(&life);
            }
        }
        taken
    }

    /// Tells the programs that nobody wants a connection. Nothing where it is gone already.
    pub fn dismiss(&mut self, connection: &ConnectionKey) {
        let key = connection.map_key();
        let value = self.connections.get(&key, 0).ok().and_then(|value| connection.with_verdict(value, Verdict::Elsewhere));
        if let Some(value) = value {
            // It may have gone meanwhile.
            let _gone = self.connections.insert(key, value, EXISTING);
        }
    }

    /// What could not be recorded so far: how often, or how many bytes.
    pub fn lost(&self, loss: Loss) -> u64 {
        self.losses.get(&(loss as u32), 0).map(|values| values.iter().sum()).unwrap_or_default()
    }

    /// The rings, to be waited for: each is readable while anything in it is not taken, and the programs wake who waits for it only where it is urgent.
    pub fn rings(&self) -> [BorrowedFd<'_>; 2] {
        [self.records.as_fd(), self.lives.as_fd()]
    }
}

impl std::fmt::Debug for Recorded {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Recorded").finish_non_exhaustive()
    }
}
