//! The maps of the eBPF programs. User space finds them by these names, and may set other sizes when it loads them.

use aya_ebpf::macros::map;
use aya_ebpf::maps::{Array, HashMap, LruHashMap, PerCpuArray, ProgramArray, RingBuf};
use observer_ebpf::{Connection, ConnectionAddress, Endpoint, Filter, KernelMember, Loss, MAX_API_SERVERS, MAX_FILES, NAME_LENGTH};

use crate::atomics;
use crate::goroutines::{Encoding, Goroutine, Reading};
use crate::ssl_threads::THREAD_COUNTS;
use crate::thread_calls::Thread;

/// Plaintext: `Record`s, each with its payload.
#[map]
pub(crate) static RECORDS: RingBuf = RingBuf::with_byte_size(8 << 20, 0);

/// Events in the lifetimes of processes and sockets: `LifetimeEvent`s.
#[map]
pub(crate) static LIFETIMES: RingBuf = RingBuf::with_byte_size(256 << 10, 0);

/// The state of each connection.
#[map]
pub(crate) static CONNECTIONS: LruHashMap<ConnectionAddress, Connection> = LruHashMap::with_max_entries(32_768, 0);

/// Threads that call OpenSSL (`bpf_get_current_pid_tgid`): their calls that have not returned, and the sockets that they use.
#[map]
pub(crate) static SSL_CALLS: LruHashMap<u64, Thread> = LruHashMap::with_max_entries(8_192, 0);

/// How many threads are in [`SSL_CALLS`], by the lower bits of their IDs; see [`crate::ssl_threads`].
#[map]
pub(crate) static SSL_THREADS: Array<u64> = Array::with_max_entries(THREAD_COUNTS, 0);

/// Set of the sockets of recorded connections, by their addresses in the kernel; the values are not used.
#[map]
pub(crate) static SOCKETS: LruHashMap<u64, u32> = LruHashMap::with_max_entries(32_768, 0);

/// Set of the API servers: a connection is recorded only if one of its ends is in it. The values are not used.
#[map]
pub(crate) static API_SERVERS: HashMap<Endpoint, u32> = HashMap::with_max_entries(MAX_API_SERVERS, 0);

/// Offsets of members in the structures of this kernel, by [`KernelMember`].
#[map]
pub(crate) static KERNEL_OFFSETS: Array<[u32; KernelMember::COUNT]> = Array::with_max_entries(1, 0);

/// Calls of Go's `(*Conn).Read`, by goroutine: the one that has not returned, or the last one. If the entry of an unreturned call
/// was evicted, the call's arguments are read from the stack.
#[map]
pub(crate) static GO_READS: LruHashMap<Goroutine, Reading> = LruHashMap::with_max_entries(32_768, 0);

/// Goroutines that encode a header block for a connection with an API server, from the entry of `encodeAndWriteHeaders` to its
/// return.
#[map]
pub(crate) static GO_ENCODINGS: LruHashMap<Goroutine, Encoding> = LruHashMap::with_max_entries(4_096, 0);

/// Counts of data that could not be recorded, by [`Loss`].
#[map]
pub(crate) static LOSSES: PerCpuArray<u64> = PerCpuArray::with_max_entries(Loss::COUNT, 0);

/// Number of calls of the probed functions of each file, by any process; indexed by the number of the file.
#[map]
pub(crate) static CALLS: PerCpuArray<u64> = PerCpuArray::with_max_entries(MAX_FILES as u32, 0);

/// Number of calls of the functions of each file that are probed for header fields; indexed as [`CALLS`].
#[map]
pub(crate) static FIELD_CALLS: PerCpuArray<u64> = PerCpuArray::with_max_entries(MAX_FILES as u32, 0);

/// The flags that select processes; see [`Filter`].
#[map]
pub(crate) static FILTER: Array<Filter> = Array::with_max_entries(1, 0);

/// The processes of `FILTER_BY_PROCESS`, with their start times in clock ticks as in proc(5), since another process may get the
/// same PID.
#[map]
pub(crate) static PROCESSES: HashMap<u32, u64> = HashMap::with_max_entries(4_096, 0);

/// Set of the names of `FILTER_BY_NAME`, padded with 0; the values are not used.
#[map]
pub(crate) static NAMES: HashMap<[u8; NAME_LENGTH], u32> = HashMap::with_max_entries(1_024, 0);

/// Set of the cgroups of `FILTER_BY_CGROUP`, by their numbers (the inodes of their folders); the values are not used.
#[map]
pub(crate) static CGROUPS: HashMap<u64, u32> = HashMap::with_max_entries(4_096, 0);

/// Decisions about processes since they executed their program, by PID in the initial PID namespace: 1 if selected, otherwise 0.
#[map]
pub(crate) static SELECTED: LruHashMap<u32, u32> = LruHashMap::with_max_entries(16_384, 0);

/// Always empty; see [`crate::thread_stack`].
#[map]
pub(crate) static NO_PROGRAMS: ProgramArray = ProgramArray::with_max_entries(1, 0);

/// Adds to a counter of [`LOSSES`]. This is atomic, because another program may preempt the current one.
#[inline(always)]
pub(crate) fn count(loss: Loss, by: u64) {
    if let Some(counter) = LOSSES.get_ptr_mut(loss as u32) {
        // SAFETY: the kernel gave the address of a value of this map, which is eight bytes aligned and valid as long as the map.
        unsafe { atomics::add(counter, by) };
    }
}
