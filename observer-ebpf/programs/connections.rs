//! What is kept of each connection: since when it is known, how far each direction came, its socket, and whether it is recorded.

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

/// What the library did: `length` bytes at `buffer` of the connection at `address` went in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) address: u64,
    pub(crate) buffer: u64,
    pub(crate) length: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) time: u64,
    pub(crate) socket: CallSocket,
    pub(crate) direction: Direction,
    /// The number of the file that has the library.
    pub(crate) file: u16,
}

/// What a call tells of the socket of its connection.
#[derive(Clone, Copy)]
pub(crate) struct CallSocket {
    /// The TCP socket that was used within the call, or that the library's object of the connection has; 0 if none is known.
    pub(crate) used: u64,
    /// The descriptor that the library has, negative if that is not known.
    pub(crate) descriptor: i32,
    /// The TCP socket that was used nearest to the call; 0 if none was, or the call tells more.
    pub(crate) nearby: u64,
}

/// Counts the bytes on their connection, and records them unless it leads elsewhere, or has had its time to show where.
#[inline(always)]
pub(crate) fn transferred(caller: Caller, transfer: &Transfer) {
    let Some(connection) = connection(key(caller, transfer.address), transfer) else {
        count(Loss::ConnectionNotKept, 1);
        return;
    };
    // SAFETY: the kernel keeps the value's memory while the program runs.
    if unsafe { (*connection).verdict } == Verdict::Closed as u32 {
        return;
    }
    // SAFETY: the kernel keeps the value's memory while the program runs, and both counters are eight bytes aligned. An entry that is replaced
    // meanwhile counts into nothing.
    let offset = unsafe { atomics::fetch_add(transfer.direction.counter(connection), transfer.length) };
    // SAFETY: as above.
    unsafe { place(&caller, transfer, connection) };
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

/// The connection at an address and how much of it was received, if it is recorded and it is known where it leads.
#[inline(always)]
pub(crate) fn wanted(caller: Caller, address: u64) -> Option<(ConnectionKey, u64)> {
    let connection = present(key(caller, address))?;
    // SAFETY: as in `transferred`.
    let Connection { since, received, verdict, .. } = unsafe { *connection };
    let key = ConnectionKey { address, since, process: caller.process, reserved: 0 };
    (verdict == Verdict::Wanted as u32).then_some((key, received))
}

/// What is said of the connection at an address, if it is known.
#[inline(always)]
pub(crate) fn verdict(caller: Caller, address: u64) -> Option<u32> {
    // SAFETY: as in `transferred`.
    present(key(caller, address)).map(|connection| unsafe { (*connection).verdict })
}

/// Keeps that the library is asked to end a connection properly.
#[inline(always)]
pub(crate) fn notified(caller: Caller, address: u64) {
    if let Some(connection) = present(key(caller, address)) {
        // SAFETY: as in `transferred`.
        unsafe { (*connection).is_notified = 1 };
    }
}

/// Records that a connection is given up, and forgets it, since its memory is free.
#[inline(always)]
pub(crate) fn freed(caller: Caller, address: u64) {
    if let Some(connection) = present(key(caller, address)) {
        // Of two threads that free it, one finds it there still.
        let is_first = || CONNECTIONS.remove(key(caller, address)).is_ok();
        // SAFETY: as in `transferred`.
        unsafe { given_up(caller, address, connection, is_first) };
    }
}

/// Records that a connection is given up, and keeps that: other threads may be in calls for it.
#[inline(always)]
pub(crate) fn closed(caller: Caller, address: u64) {
    if let Some(connection) = present(key(caller, address)) {
        // SAFETY: as in `transferred`, here and below. Two threads that close at once tell it twice, which says nothing new.
        let is_first = || unsafe {
            let is_first = (*connection).verdict != Verdict::Closed as u32;
            (*connection).verdict = Verdict::Closed as u32;
            is_first
        };
        // SAFETY: as above.
        unsafe { given_up(caller, address, connection, is_first) };
    }
}

/// Records that a connection is given up. One that leads elsewhere has nothing to tell. Where there is no room to tell it, its socket will.
///
/// # Safety
///
/// `connection` points into the map of connections.
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
    let is_told = records::number(&record, received);
    // Otherwise its end is still to be told.
    if is_told && is_notified != 0 {
        // It is not there if that was so before.
        let _gone = SOCKETS.remove(socket);
    }
}

/// Counts a connection whose socket is not known in time.
///
/// # Safety
///
/// `connection` points into the map of connections.
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

/// Finds the socket, as long as it is not known.
///
/// # Safety
///
/// `connection` points into the map of connections.
#[inline(always)]
unsafe fn place(caller: &Caller, transfer: &Transfer, connection: *mut Connection) {
    let CallSocket { used, descriptor, nearby } = transfer.socket;
    // SAFETY: as the caller promises, here and below; no reference is made.
    if unsafe { (*connection).socket } != 0 && nearby == 0 {
        return;
    }
    // SAFETY: as above.
    unsafe {
        if used != 0 {
            sockets::decide(caller, transfer.address, connection, used);
        } else if descriptor >= 0 {
            sockets::decide_by(caller, transfer.address, connection, descriptor);
        } else if nearby != 0 {
            sockets::guessed(caller, transfer.address, connection, nearby);
        }
    }
}

/// The connection at an address, as far as it is of the program that runs: a process that is gone, or executed another one, left its own behind.
#[inline(always)]
fn present(key: ConnectionAddress) -> Option<*mut Connection> {
    let connection = CONNECTIONS.get_ptr_mut(key)?;
    // SAFETY: as in `transferred`.
    let Connection { started, execs, .. } = unsafe { *connection };
    (kernel::program().unwrap_or_default() == (started, execs)).then_some(connection)
}

/// The connection at an address, a new one if it is not known. Another socket than before is another connection: the end of the one before was not
/// seen, as where the library has no probe for it.
#[inline(always)]
fn connection(key: ConnectionAddress, transfer: &Transfer) -> Option<*mut Connection> {
    if let Some(connection) = present(key) {
        // SAFETY: as in `transferred`.
        if unsafe { is_same(connection, transfer.socket) } {
            return Some(connection);
        }
    }
    // Of one before, or not there; where another thread removes it, it is gone as well.
    let _gone = CONNECTIONS.remove(key);
    let (started, execs) = kernel::program().unwrap_or_default();
    let first = Connection {
        // Of a call that sends this is its beginning, so no record is older than its connection.
        since: transfer.time,
        sent: 0,
        received: 0,
        socket: 0,
        verdict: Verdict::Undecided as u32,
        descriptor: transfer.socket.descriptor,
        is_notified: 0,
        is_late: 0,
        file: u32::from(transfer.file),
        is_recorded: 0,
        started,
        execs,
        ports: 0,
        reserved: 0,
    };
    // Where another thread was faster, its value is found.
    let _faster = CONNECTIONS.insert(key, first, u64::from(BPF_NOEXIST));
    CONNECTIONS.get_ptr_mut(key)
}

/// Whether a call may be of this connection, as far as its socket says. What the socket of a call is nearest to says nothing. One that is closed may have no
/// socket any more.
///
/// # Safety
///
/// `connection` points into the map of connections.
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
