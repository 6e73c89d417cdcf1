//! Determines the socket of a connection, and so whether it is recorded.
//!
//! The evidence, best first: the socket that is used inside a call of the TLS library; the descriptor in the library's object; the
//! socket that is used just after a call that writes or just before one that reads. Once known, the socket stays.

use aya_ebpf::helpers::{bpf_get_current_cgroup_id, bpf_get_current_pid_tgid, bpf_ktime_get_ns};
use aya_ebpf::macros::{btf_tracepoint, fexit};
use aya_ebpf::programs::{BtfTracePointContext, FExitContext};
use observer_ebpf::{Connection, ConnectionAddress, ConnectionKey, FILTER_SERVER_ENDS, Kind, Loss, Opened, Record, Role, Verdict};

use crate::admission::Caller;
use crate::kernel::{self, Structure};
use crate::lifetimes;
use crate::maps::{API_SERVERS, CONNECTIONS, FILTER, SSL_CALLS, count};
use crate::records;
use crate::ssl_threads;

/// `sock_send_length(struct sock *sk, int ret, int flags)` (Linux 6.3): a thread has sent on a socket.
#[btf_tracepoint(function = "sock_send_length")]
pub(crate) fn socket_sent(context: BtfTracePointContext) -> i32 {
    sent(context.arg::<*const u8>(0), context.arg::<i32>(1));
    0
}

/// `sock_recv_length(struct sock *sk, int ret, int flags)` (Linux 6.3): a thread has received from a socket.
#[btf_tracepoint(function = "sock_recv_length")]
pub(crate) fn socket_received(context: BtfTracePointContext) -> i32 {
    received(context.arg::<*const u8>(0), context.arg::<i32>(1));
    0
}

/// `int tcp_sendmsg(struct sock *sk, struct msghdr *msg, size_t size)`, at its return, where there is no `sock_send_length`.
#[fexit(function = "tcp_sendmsg")]
pub(crate) fn tcp_sent(context: FExitContext) -> i32 {
    sent(context.arg::<*const u8>(0), context.arg::<i32>(3));
    0
}

/// `int tcp_recvmsg(struct sock *sk, struct msghdr *msg, size_t len, int flags, int *addr_len)` (Linux 5.19), at its return, where
/// there is no `sock_recv_length`. The result comes after the arguments.
#[fexit(function = "tcp_recvmsg")]
pub(crate) fn tcp_received(context: FExitContext) -> i32 {
    received(context.arg::<*const u8>(0), context.arg::<i32>(5));
    0
}

/// As [`tcp_received`], before Linux 5.19: `tcp_recvmsg` has another argument, `int nonblock` before `int flags`. A later verifier
/// refuses this program.
#[fexit(function = "tcp_recvmsg")]
pub(crate) fn tcp_received_before_5_19(context: FExitContext) -> i32 {
    received(context.arg::<*const u8>(0), context.arg::<i32>(6));
    0
}

/// `socket` is a `struct sock *`; `result` is the number of bytes, or an error.
#[inline(always)]
fn sent(socket: *const u8, result: i32) {
    let Some(used) = Used::of(socket, result) else { return };
    let Some(thread) = SSL_CALLS.get_ptr_mut(used.thread) else { return };
    // SAFETY: only this thread has this key, and no other program runs for the thread meanwhile.
    let thread = unsafe { &mut *thread };
    if thread.calls.used(used.socket.address()) || used.length == 0 {
        return;
    }
    let writer = thread.sockets.sent(used.length);
    if writer != 0
        && let Some(caller) = Caller::admitted()
    {
        belongs(&caller, writer, used.socket);
    }
}

/// As [`sent`].
#[inline(always)]
fn received(socket: *const u8, result: i32) {
    let Some(used) = Used::of(socket, result) else { return };
    let Some(thread) = SSL_CALLS.get_ptr_mut(used.thread) else { return };
    // SAFETY: as above.
    let thread = unsafe { &mut *thread };
    if !thread.calls.used(used.socket.address()) && used.length > 0 {
        thread.sockets.received(used.socket.address(), used.length);
    }
}

/// A send or a receive of the current thread.
struct Used {
    thread: u64,
    socket: Structure,
    /// 0 if nothing was transferred, for any reason.
    length: u64,
}

impl Used {
    /// `None` if the thread has never called a TLS library, or the socket is not a TCP socket.
    #[inline(always)]
    fn of(socket: *const u8, result: i32) -> Option<Self> {
        let thread = bpf_get_current_pid_tgid();
        if !ssl_threads::may_call(thread) {
            return None;
        }
        SSL_CALLS.get_ptr(thread)?;
        let socket = Structure::at(socket as u64).filter(|socket| kernel::is_tcp(*socket))?;
        Some(Self { thread, socket, length: u64::try_from(result).unwrap_or(0) })
    }
}

/// Notes that a thread sent on this socket after it wrote on a connection.
#[inline(always)]
fn belongs(caller: &Caller, address: u64, socket: Structure) {
    let key = ConnectionAddress { address, process: caller.process, reserved: 0 };
    if let Some(connection) = CONNECTIONS.get_ptr_mut(key) {
        // SAFETY: the kernel keeps the value's memory while the program runs.
        unsafe { guessed(caller, address, connection, socket.address()) };
    }
}

/// Notes that the socket of a connection seems to be this one.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(always)]
pub(crate) unsafe fn guessed(caller: &Caller, address: u64, connection: *mut Connection, socket: u64) {
    // SAFETY: as the caller promises; no reference is made.
    let known = unsafe { (*connection).socket };
    if known == 0 {
        // SAFETY: as above.
        unsafe { decide(caller, address, connection, socket) };
    } else if known != socket {
        count(Loss::SocketContradicted, 1);
    }
}

/// Calls [`decide`] with the socket of a descriptor of the current process.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(always)]
pub(crate) unsafe fn decide_by(caller: &Caller, address: u64, connection: *mut Connection, descriptor: i32) {
    if let Some(socket) = kernel::socket_of(descriptor, 0) {
        // SAFETY: as the caller promises.
        unsafe { decide(caller, address, connection, socket.address()) };
    }
}

/// Keeps the socket of a connection and the resulting verdict. Records its endpoints if it is wanted, or that it is unwanted if
/// bytes of it were recorded. A socket that is not connected or cannot be read changes nothing. Without room in the ring buffer
/// nothing changes either, so the next call tries again.
///
/// This is a function of its own in the kernel, since several programs call it.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(never)]
pub(crate) unsafe fn decide(caller: &Caller, address: u64, connection: *mut Connection, socket: u64) {
    let Some(structure) = Structure::at(socket) else { return };
    let Some(remote) = kernel::remote_end(structure) else { return };
    let Some(local) = kernel::local_end(structure) else { return };
    // SAFETY: as the caller promises; no reference is made.
    let Connection { since, sent, descriptor, file, is_recorded, .. } = unsafe { *connection };
    let head = |kind: Kind, length: u32| Record {
        connection: ConnectionKey { address, since, process: caller.process, reserved: 0 },
        // SAFETY: takes nothing and returns a number.
        time: unsafe { bpf_ktime_get_ns() },
        offset: sent,
        length,
        kind: kind as u32,
        thread: caller.thread,
        descriptor,
        flags: 0,
        name_length: 0,
    };
    let role = if API_SERVERS.get_ptr(&remote).is_some() {
        Role::Client
    } else if has_server_ends() && API_SERVERS.get_ptr(&local).is_some() {
        Role::Server
    } else {
        // SAFETY: as the caller promises; no reference is made.
        unsafe {
            (*connection).socket = socket;
            (*connection).ports = kernel::ports(local.port, remote.port);
            (*connection).verdict = Verdict::Elsewhere as u32;
        }
        if is_recorded != 0 {
            records::head(&head(Kind::Elsewhere, 0));
        }
        return;
    };
    let has_room = records::opened(
        |record| *record = head(Kind::Opened, size_of::<Opened>() as u32),
        |opened| {
            opened.socket = socket;
            // SAFETY: takes nothing and returns a number.
            opened.cgroup = unsafe { bpf_get_current_cgroup_id() };
            opened.started = kernel::process(&mut opened.name);
            opened.local = local;
            opened.remote = remote;
            opened.role = role as u32;
            opened.file = file;
        },
    );
    if !has_room {
        return;
    }
    lifetimes::follow(structure);
    // SAFETY: as above.
    unsafe {
        (*connection).socket = socket;
        (*connection).ports = kernel::ports(local.port, remote.port);
        (*connection).verdict = Verdict::Wanted as u32;
    }
}

/// Whether the remote end of a socket is an API server.
#[inline(always)]
pub(crate) fn leads_to_api_server(socket: Structure) -> bool {
    kernel::remote_end(socket).is_some_and(|remote| API_SERVERS.get_ptr(&remote).is_some())
}

#[inline(always)]
fn has_server_ends() -> bool {
    FILTER.get(0).is_some_and(|filter| filter.flags & FILTER_SERVER_ENDS != 0)
}
