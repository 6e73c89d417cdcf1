//! Beginnings and ends of processes and sockets. They are told of all processes, because they are how user space learns which ones there are, and the socket
//! of a connection changes its state on behalf of whoever runs.
//!
//! Tracepoints with BTF need the capabilities `CAP_BPF` and `CAP_PERFMON`. The plain one also needs to read its number in tracefs, which is
//! root's; it is plain because the fields of `struct sock` lie elsewhere in each kernel, and those of the tracepoint do not.

use aya_ebpf::helpers::bpf_ktime_get_ns;
use aya_ebpf::macros::{btf_tracepoint, tracepoint};
use aya_ebpf::programs::{BtfTracePointContext, TracePointContext};
use observer_ebpf::{Life, LifeKind, Loss};

use crate::admission::Caller;
use crate::maps::{LIVES, count};

/// Above so many bytes the reader is woken, a quarter of the ring buffer.
const PENDING_BYTES: u64 = 64 << 10;
/// As in the records of plaintext.
const BPF_RB_AVAIL_DATA: u64 = 0;
const BPF_RB_NO_WAKEUP: u64 = 1;
const BPF_RB_FORCE_WAKEUP: u64 = 2;

const IPPROTO_TCP: u16 = 6;

/// What follows the eight common bytes of `sock:inet_sock_set_state` (Linux `include/trace/events/sock.h`, 6.18).
#[derive(Clone, Copy)]
#[repr(C)]
struct SocketState {
    socket: u64,
    before: i32,
    after: i32,
    local_port: u16,
    remote_port: u16,
    family: u16,
    protocol: u16,
    local_v4: [u8; 4],
    remote_v4: [u8; 4],
    /// Those of IPv4 mapped already.
    local: [u8; 16],
    remote: [u8; 16],
}

const COMMON_BYTES: usize = 8;

/// `sched_process_exec`: the process has its new program, and its new name is not read yet.
#[btf_tracepoint(function = "sched_process_exec")]
pub(crate) fn process_exec(_context: BtfTracePointContext) -> i32 {
    if let Some(caller) = Caller::current() {
        process(caller, LifeKind::Exec);
    }
    0
}

/// `sched_process_exit` of the leader of a thread group.
#[btf_tracepoint(function = "sched_process_exit")]
pub(crate) fn process_exit(_context: BtfTracePointContext) -> i32 {
    if let Some(caller) = Caller::current()
        && caller.thread == caller.process
    {
        process(caller, LifeKind::Exit);
    }
    0
}

/// `sock:inet_sock_set_state`, of TCP.
#[tracepoint(category = "sock", name = "inet_sock_set_state")]
pub(crate) fn socket_state(context: TracePointContext) -> u32 {
    // SAFETY: the context has these bytes.
    let Ok(state) = (unsafe { context.read_at::<SocketState>(COMMON_BYTES) }) else { return 0 };
    if state.protocol != IPPROTO_TCP {
        return 0;
    }
    tell(&Life {
        time: now(),
        kind: LifeKind::Socket as u32,
        process: Caller::current().map_or(0, |caller| caller.process),
        socket: state.socket,
        before: state.before as u16,
        after: state.after as u16,
        local_port: state.local_port,
        remote_port: state.remote_port,
        local: state.local,
        remote: state.remote,
    });
    0
}

#[inline(always)]
fn process(caller: Caller, kind: LifeKind) {
    tell(&Life {
        time: now(),
        kind: kind as u32,
        process: caller.process,
        socket: 0,
        before: 0,
        after: 0,
        local_port: 0,
        remote_port: 0,
        local: [0; 16],
        remote: [0; 16],
    });
}

#[inline(always)]
fn now() -> u64 {
    // SAFETY: takes nothing and returns a number.
    unsafe { bpf_ktime_get_ns() }
}

#[inline(always)]
fn tell(life: &Life) {
    let Some(mut room) = LIVES.reserve::<Life>(0) else {
        count(Loss::LifeNoRoom, 1);
        return;
    };
    room.write(*life);
    let is_urgent = LIVES.query(BPF_RB_AVAIL_DATA) > PENDING_BYTES;
    room.submit(if is_urgent { BPF_RB_FORCE_WAKEUP } else { BPF_RB_NO_WAKEUP });
}
