//! Events in the lifetimes of processes and sockets.
//!
//! Events of all processes are recorded, because user space learns from them which processes exist. Events of sockets are recorded
//! whichever process runs, because a segment from the remote end changes a socket, too.
//!
//! All programs here are tracepoints with BTF, which need the capabilities `CAP_BPF` and `CAP_PERFMON`, but no tracefs.

use aya_ebpf::helpers::{bpf_get_current_pid_tgid, bpf_ktime_get_ns};
use aya_ebpf::macros::btf_tracepoint;
use aya_ebpf::programs::BtfTracePointContext;
use observer_ebpf::{LifetimeEvent, LifetimeKind, Loss};

use crate::admission::Caller;
use crate::kernel::{self, Structure};
use crate::maps::{LIFETIMES, SOCKETS, count};
use crate::{ssl_threads, wakeups};

/// Number of unread bytes above which the reader is woken: a quarter of the ring buffer. Each executed program wakes it, too.
const PENDING_BYTES: u64 = 64 << 10;

/// States of a TCP socket (Linux `include/net/tcp_states.h`).
const TCP_ESTABLISHED: u8 = 1;
const TCP_CLOSE: i32 = 7;

/// `sched_process_exec`: the process runs its new program, and has not set its new name yet.
#[btf_tracepoint(function = "sched_process_exec")]
pub(crate) fn process_exec(_context: BtfTracePointContext) -> i32 {
    Caller::forget();
    if let Some(caller) = Caller::current() {
        process(caller, LifetimeKind::Exec);
    }
    0
}

/// `sched_process_exit`, recorded for the last thread of a thread group, which need not be the leader. If the last two end at once,
/// both may be recorded.
#[btf_tracepoint(function = "sched_process_exit")]
pub(crate) fn process_exit(_context: BtfTracePointContext) -> i32 {
    // Each thread ends here, and its ID may become another one's.
    ssl_threads::end(bpf_get_current_pid_tgid());
    if !kernel::is_group_dead() {
        return 0;
    }
    Caller::forget();
    if let Some(caller) = Caller::current() {
        process(caller, LifetimeKind::Exit);
    }
    0
}

/// `inet_sock_set_state(const struct sock *sk, const int oldstate, const int newstate)`, for the sockets of recorded connections.
#[btf_tracepoint(function = "inet_sock_set_state")]
pub(crate) fn socket_state(context: BtfTracePointContext) -> i32 {
    let Some(socket) = Structure::at(context.arg::<*const u8>(0) as u64) else { return 0 };
    if SOCKETS.get_ptr(socket.address()).is_none() {
        return 0;
    }
    let (before, after) = (context.arg::<i32>(1), context.arg::<i32>(2));
    if after == TCP_CLOSE {
        // Its memory may become another socket.
        let _gone = SOCKETS.remove(socket.address());
    }
    record(&LifetimeEvent {
        time: now(),
        kind: LifetimeKind::Socket as u32,
        process: 0,
        socket: socket.address(),
        before: before as u16,
        after: after as u16,
        error: kernel::error(socket),
    });
    0
}

/// Begins to record the changes of a socket, and records its state now. The remote end may have ended its direction, or closed the
/// connection, before this end's first call returned.
///
/// A change is recorded here or by [`socket_state`], or by both. That program looks up the socket before the kernel stores the
/// state; this function adds the socket to the map before it reads the state. A change is lost only if a processor is interrupted
/// between the look-up and the store, while another one does both steps of this function.
#[inline(always)]
pub(crate) fn follow(socket: Structure) {
    // Without room, its end is not recorded.
    let _full = SOCKETS.insert(socket.address(), 0, 0);
    let Some(state) = kernel::state(socket) else { return };
    if state == TCP_ESTABLISHED {
        return;
    }
    if i32::from(state) == TCP_CLOSE {
        // Nothing follows, and its memory may become another socket.
        let _gone = SOCKETS.remove(socket.address());
    }
    // The kernel stores the error before the state (`tcp_reset` in Linux `net/ipv4/tcp_input.c`, 6.18), so it is read after it.
    let error = kernel::error(socket);
    let (socket, after) = (socket.address(), u16::from(state));
    record(&LifetimeEvent { time: now(), kind: LifetimeKind::Socket as u32, process: 0, socket, before: 0, after, error });
}

#[inline(always)]
fn process(caller: Caller, kind: LifetimeKind) {
    record(&LifetimeEvent { time: now(), kind: kind as u32, process: caller.process, socket: 0, before: 0, after: 0, error: 0 });
}

#[inline(always)]
fn now() -> u64 {
    // SAFETY: takes nothing and returns a number.
    unsafe { bpf_ktime_get_ns() }
}

#[inline(always)]
fn record(event: &LifetimeEvent) {
    let Some(mut room) = LIFETIMES.reserve::<LifetimeEvent>(0) else {
        count(Loss::LifetimeNoRoom, 1);
        return;
    };
    room.write(*event);
    // A new program is probed while it starts; otherwise its first traffic is missed.
    let is_urgent = event.kind == LifetimeKind::Exec as u32 || wakeups::unread(&LIFETIMES) > PENDING_BYTES;
    wakeups::submit(room, is_urgent);
}
