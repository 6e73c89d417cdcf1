//! The state of each connection: when it was first seen, the position in each direction, its socket, and whether it is recorded.

use aya_ebpf::bindings::BPF_NOEXIST;
use aya_ebpf::helpers::bpf_ktime_get_ns;
use observer_ebpf::{
    CLOSE_NOTIFIED, Connection, ConnectionAddress, ConnectionKey, Kind, Loss, Record, UNDECIDED_BYTES, UNDECIDED_TIME, Verdict,
};

use crate::admission::Caller;
use crate::atomics;
use crate::kernel::{self, Structure};
use crate::maps::{CONNECTIONS, SOCKETS, count};
use crate::records::{self, Direction};
use crate::sockets;

/// A transfer of the library: `length` bytes at `buffer` passed in one direction of the connection at `address`.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) address: u64,
    pub(crate) buffer: u64,
    pub(crate) length: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) time: u64,
    pub(crate) direction: Direction,
}

/// The socket of a connection, as far as one call shows it.
#[derive(Clone, Copy)]
pub(crate) struct CallSocket {
    /// The TCP socket that was used within the call, or that the library's object refers to; 0 if unknown.
    pub(crate) used: u64,
    /// The descriptor in the library's object; negative if unknown.
    pub(crate) descriptor: i32,
    /// The TCP socket that was used nearest to the call; 0 if there is none, or the call shows the socket itself.
    pub(crate) nearby: u64,
}

/// Counts the bytes on their connection, and records them. It does not record them if the connection is unwanted, or its socket is
/// still unknown after [`UNDECIDED_TIME`] or [`UNDECIDED_BYTES`].
///
/// `socket` finds the socket of the call. It is given the one that the connection is known to have; 0 if unknown. `file` returns the number
/// of the file that has the library.
#[inline(always)]
pub(crate) fn transferred(caller: Caller, transfer: &Transfer, socket: impl FnOnce(u64) -> CallSocket, file: impl FnOnce() -> u16) {
    let key = key(caller, transfer.address);
    let present = present(key);
    // SAFETY: the kernel keeps the value's memory while the program runs.
    let socket = socket(present.map_or(0, |connection| unsafe { (*connection).socket }));
    // SAFETY: as above.
    let same = present.filter(|connection| unsafe { is_same(*connection, socket) });
    let Some(connection) = same.or_else(|| replaced(key, transfer.time, socket, file())) else {
        count(Loss::ConnectionNotKept, 1);
        return;
    };
    // SAFETY: the kernel keeps the value's memory while the program runs.
    if unsafe { (*connection).verdict } == Verdict::Closed as u32 {
        return;
    }
    // SAFETY: the kernel keeps the value's memory while the program runs, and both counters are eight bytes aligned. An entry that
    // is replaced meanwhile counts into nothing.
    let offset = unsafe { atomics::fetch_add(transfer.direction.counter(connection), transfer.length) };
    // SAFETY: as above.
    unsafe { determine_socket(&caller, transfer.address, socket, connection) };
    // SAFETY: as above.
    let Connection { since, sent, received, verdict, descriptor, .. } = unsafe { *connection };
    if verdict == Verdict::Elsewhere as u32 {
        return;
    }
    let is_late = transfer.time.saturating_sub(since) > UNDECIDED_TIME || sent + received > UNDECIDED_BYTES;
    if verdict == Verdict::Undecided as u32 && is_late {
        // SAFETY: as above.
        unsafe { late(connection) };
        return;
    }
    if verdict == Verdict::Undecided as u32 {
        // SAFETY: as above.
        unsafe { (*connection).is_recorded = 1 };
    }
    let record = Record {
        connection: ConnectionKey { address: transfer.address, since, process: caller.process, reserved: 0 },
        time: transfer.time,
        offset,
        length: 0,
        kind: transfer.direction as u32,
        thread: caller.thread,
        descriptor,
        flags: 0,
        name_length: 0,
    };
    records::call(&record, transfer.buffer, transfer.length);
}

/// The connection at an address, and its number of received bytes; `None` unless one of its ends is known to be an API server.
#[inline(always)]
pub(crate) fn wanted(caller: Caller, address: u64) -> Option<(ConnectionKey, u64)> {
    let connection = present(key(caller, address))?;
    // SAFETY: as in `transferred`.
    let Connection { since, received, verdict, .. } = unsafe { *connection };
    let key = ConnectionKey { address, since, process: caller.process, reserved: 0 };
    (verdict == Verdict::Wanted as u32).then_some((key, received))
}

/// The verdict on the connection at an address; `None` if there is no connection.
#[inline(always)]
pub(crate) fn verdict(caller: Caller, address: u64) -> Option<u32> {
    // SAFETY: as in `transferred`.
    present(key(caller, address)).map(|connection| unsafe { (*connection).verdict })
}

/// Notes that the library was asked to end a connection properly.
#[inline(always)]
pub(crate) fn notified(caller: Caller, address: u64) {
    if let Some(connection) = present(key(caller, address)) {
        // SAFETY: as in `transferred`.
        unsafe { (*connection).is_notified = 1 };
    }
}

/// Records that a connection is closed, and removes it, since its memory is free.
#[inline(always)]
pub(crate) fn freed(caller: Caller, address: u64) {
    if let Some(connection) = present(key(caller, address)) {
        // If two threads free it, only one of them can remove it.
        let is_first = || CONNECTIONS.remove(key(caller, address)).is_ok();
        // SAFETY: as in `transferred`.
        unsafe { given_up(caller, address, connection, is_first) };
    }
}

/// Records that a connection is closed, and keeps it as closed: other threads may be in calls on it.
#[inline(always)]
pub(crate) fn closed(caller: Caller, address: u64) {
    if let Some(connection) = present(key(caller, address)) {
        // SAFETY: as in `transferred`, here and below. Two threads that close at once record it twice, which is harmless.
        let is_first = || unsafe {
            let is_first = (*connection).verdict != Verdict::Closed as u32;
            (*connection).verdict = Verdict::Closed as u32;
            is_first
        };
        // SAFETY: as above.
        unsafe { given_up(caller, address, connection, is_first) };
    }
}

/// Records that a connection is closed. An unwanted one has no record. Without room for the record, the socket reports the end.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(always)]
unsafe fn given_up(caller: Caller, address: u64, connection: *mut Connection, is_first: impl FnOnce() -> bool) {
    // SAFETY: as the caller promises.
    let Connection { since, sent, received, descriptor, socket, verdict, is_notified, .. } = unsafe { *connection };
    if verdict == Verdict::Undecided as u32 {
        // SAFETY: as the caller promises.
        unsafe { late(connection) };
    }
    if !is_first() || verdict == Verdict::Elsewhere as u32 {
        return;
    }
    let record = Record {
        connection: ConnectionKey { address, since, process: caller.process, reserved: 0 },
        // SAFETY: takes nothing and returns a number.
        time: unsafe { bpf_ktime_get_ns() },
        offset: sent,
        length: 0,
        kind: Kind::Closed as u32,
        thread: caller.thread,
        descriptor,
        flags: if is_notified == 0 { 0 } else { CLOSE_NOTIFIED },
        name_length: 0,
    };
    let has_room = records::number(&record, received);
    // Otherwise the socket still has an end to report.
    if has_room && is_notified != 0 {
        // It may be absent already.
        let _gone = SOCKETS.remove(socket);
    }
}

/// Counts a connection whose socket did not become known in time.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(always)]
unsafe fn late(connection: *mut Connection) {
    // SAFETY: as the caller promises; no reference is made.
    unsafe {
        if (*connection).is_late == 0 {
            (*connection).is_late = 1;
            count(Loss::SocketNotKnown, 1);
        }
    }
}

#[inline(always)]
fn key(caller: Caller, address: u64) -> ConnectionAddress {
    ConnectionAddress { address, process: caller.process, reserved: 0 }
}

/// Determines the socket while it is unknown.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(always)]
unsafe fn determine_socket(caller: &Caller, address: u64, socket: CallSocket, connection: *mut Connection) {
    let CallSocket { used, descriptor, nearby } = socket;
    // SAFETY: as the caller promises, here and below; no reference is made.
    if unsafe { (*connection).socket } != 0 && nearby == 0 {
        return;
    }
    // SAFETY: as above.
    unsafe {
        if used != 0 {
            sockets::decide(caller, address, connection, used);
        } else if descriptor >= 0 {
            sockets::decide_by(caller, address, connection, descriptor);
        } else if nearby != 0 {
            sockets::guessed(caller, address, connection, nearby);
        }
    }
}

/// The connection at an address, if it belongs to the current program. An exited process, or an earlier program of this one, may
/// have left another.
#[inline(always)]
fn present(key: ConnectionAddress) -> Option<*mut Connection> {
    let connection = CONNECTIONS.get_ptr_mut(key)?;
    // SAFETY: as in `transferred`.
    let Connection { started, execs, .. } = unsafe { *connection };
    (kernel::program().unwrap_or_default() == (started, execs)).then_some(connection)
}

/// A new connection at an address. If an earlier one is there, its end was not seen, for example because the library has no probe
/// for it.
#[inline(always)]
fn replaced(key: ConnectionAddress, time: u64, socket: CallSocket, file: u16) -> Option<*mut Connection> {
    // The entry belongs to another program or connection, or is absent; another thread may have removed it as well.
    let _gone = CONNECTIONS.remove(key);
    let (started, execs) = kernel::program().unwrap_or_default();
    let first = Connection {
        // For a call that sends, its start, so that no record is older than its connection.
        since: time,
        sent: 0,
        received: 0,
        socket: 0,
        verdict: Verdict::Undecided as u32,
        descriptor: socket.descriptor,
        is_notified: 0,
        is_late: 0,
        file: u32::from(file),
        is_recorded: 0,
        started,
        execs,
        ports: 0,
        reserved: 0,
    };
    // If another thread was faster, its value is used.
    let _faster = CONNECTIONS.insert(key, first, u64::from(BPF_NOEXIST));
    CONNECTIONS.get_ptr_mut(key)
}

/// Whether a call may belong to this connection, judged by the call's socket. The nearest socket proves nothing, and a closed
/// connection may have no socket any more.
///
/// # Safety
///
/// `connection` must point into the map of connections.
#[inline(always)]
unsafe fn is_same(connection: *mut Connection, socket: CallSocket) -> bool {
    // SAFETY: as the caller promises, here and below; no reference outlives the function.
    let Connection { socket: known, ports, verdict, .. } = unsafe { *connection };
    if verdict == Verdict::Closed as u32 {
        let ports_now = || Structure::at(socket.used).and_then(kernel::ports_of);
        return known != 0 && (socket.used == 0 || (known == socket.used && ports_now() == Some(ports)));
    }
    // SAFETY: as above.
    let descriptor = unsafe { &mut (*connection).descriptor };
    if known != 0 && socket.used != 0 {
        return known == socket.used;
    }
    if *descriptor < 0 {
        *descriptor = socket.descriptor;
    }
    socket.descriptor < 0 || *descriptor == socket.descriptor
}
