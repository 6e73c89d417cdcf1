//! The maps, by the names that user space knows them by. It may give each another size at load.

use aya_ebpf::macros::map;
use aya_ebpf::maps::{Array, HashMap, LruHashMap, PerCpuArray, RingBuf};
use observer_ebpf::{Connection, ConnectionAddress, Endpoint, Filter, KernelMember, Loss, MAX_FILES, NAME_LENGTH};

use crate::atomics;
use crate::goroutines::{Encoding, Goroutine, Reading};
use crate::thread_calls::Thread;

/// Plaintext: a `Record` and its payload each.
#[map]
pub(crate) static RECORDS: RingBuf = RingBuf::with_byte_size(8 << 20, 0);

/// Beginnings and ends: a `LifetimeEvent` each.
#[map]
pub(crate) static LIFETIMES: RingBuf = RingBuf::with_byte_size(256 << 10, 0);

/// What is known of each connection.
#[map]
pub(crate) static CONNECTIONS: LruHashMap<ConnectionAddress, Connection> = LruHashMap::with_max_entries(32_768, 0);

/// Threads that call OpenSSL (`bpf_get_current_pid_tgid`): their calls that have not returned, and the sockets that they use.
#[map]
pub(crate) static SSL_CALLS: LruHashMap<u64, Thread> = LruHashMap::with_max_entries(8_192, 0);

/// The sockets of connections that are recorded, by their address in the kernel; the values mean nothing.
#[map]
pub(crate) static SOCKETS: LruHashMap<u64, u32> = LruHashMap::with_max_entries(32_768, 0);

/// The API servers: connections with none of them are not recorded. The values mean nothing.
#[map]
pub(crate) static API_SERVERS: HashMap<Endpoint, u32> = HashMap::with_max_entries(64, 0);

/// Where members are in the structures of this kernel, by [`KernelMember`].
#[map]
pub(crate) static KERNEL_OFFSETS: Array<[u32; KernelMember::COUNT]> = Array::with_max_entries(1, 0);

/// Calls of Go's `(*Conn).Read`, by goroutine: those that have not returned, one each connection that waits, and the last one that has. Where one that waits
/// fell out, its arguments are found on the stack.
#[map]
pub(crate) static GO_READS: LruHashMap<Goroutine, Reading> = LruHashMap::with_max_entries(32_768, 0);

/// Goroutines that encode a header block for a connection with an API server, from the beginning to the end of `encodeAndWriteHeaders`.
#[map]
pub(crate) static GO_ENCODINGS: LruHashMap<Goroutine, Encoding> = LruHashMap::with_max_entries(4_096, 0);

/// What could not be recorded, by [`Loss`].
#[map]
pub(crate) static LOSSES: PerCpuArray<u64> = PerCpuArray::with_max_entries(Loss::COUNT, 0);

/// How often the probed functions of each file were called, by whomever, by the file's number.
#[map]
pub(crate) static CALLS: PerCpuArray<u64> = PerCpuArray::with_max_entries(MAX_FILES as u32, 0);

/// The same of the functions that are probed for header fields.
#[map]
pub(crate) static FIELD_CALLS: PerCpuArray<u64> = PerCpuArray::with_max_entries(MAX_FILES as u32, 0);

/// Which processes are recorded.
#[map]
pub(crate) static FILTER: Array<Filter> = Array::with_max_entries(1, 0);

/// The processes of `FILTER_BY_PROCESS`, and when each was started, in ticks as proc(5) tells it: another process may get its number.
#[map]
pub(crate) static PROCESSES: HashMap<u32, u64> = HashMap::with_max_entries(4_096, 0);

/// The names of `FILTER_BY_NAME`, filled up with 0; the values mean nothing.
#[map]
pub(crate) static NAMES: HashMap<[u8; NAME_LENGTH], u32> = HashMap::with_max_entries(1_024, 0);

/// The cgroups of `FILTER_BY_CGROUP`, by their number (the inode of their folder); the values mean nothing.
#[map]
pub(crate) static CGROUPS: HashMap<u64, u32> = HashMap::with_max_entries(4_096, 0);

/// Processes that were found selected (1) or not (0), as the initial PID namespace numbers them, since they execute their program.
#[map]
pub(crate) static SELECTED: LruHashMap<u32, u32> = LruHashMap::with_max_entries(16_384, 0);

/// Adds to a counter of [`LOSSES`]. Atomically, because a program that runs for a process can be preempted by another one.
#[inline(always)]
pub(crate) fn count(loss: Loss, by: u64) {
    if let Some(counter) = LOSSES.get_ptr_mut(loss as u32) {
        // SAFETY: the kernel gave the address of a value of this map, eight bytes aligned, which lives as long as the map.
        let _before = unsafe { atomics::fetch_add(counter, by) };
    }
}
