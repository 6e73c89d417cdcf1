//! What is kept of each connection: since when it is known, how far each direction came, what user space wants of it.

use aya_ebpf::bindings::BPF_NOEXIST;
use aya_ebpf::helpers::bpf_ktime_get_ns;
use observer_ebpf::{Connection, ConnectionAddress, ConnectionKey, Kind, Loss, Record, Verdict};

use crate::admission::Caller;
use crate::atomics;
use crate::maps::{CONNECTIONS, count};
use crate::records::{self, Direction};

/// What the library did: `length` bytes at `buffer` of the connection at `address` went in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) address: u64,
    pub(crate) buffer: u64,
    pub(crate) length: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) time: u64,
    pub(crate) descriptor: i32,
    pub(crate) direction: Direction,
}

/// Counts the bytes on their connection, and records them unless it leads elsewhere.
#[inline(always)]
pub(crate) fn transferred(caller: Caller, transfer: &Transfer) {
    let Some(connection) = connection(key(caller, transfer.address), transfer) else {
        count(Loss::ConnectionNotKept, 1);
        return;
    };
    // SAFETY: the kernel keeps the value's memory while the program runs, and both counters are eight bytes aligned. An entry that is replaced
    // meanwhile counts into nothing.
    let (counter, since, verdict, known) =
        unsafe { (transfer.direction.counter(connection), (*connection).since, (*connection).verdict, (*connection).descriptor) };
    // SAFETY: as above.
    let offset = unsafe { atomics::fetch_add(counter, transfer.length) };
    if verdict == Verdict::Elsewhere as u32 {
        return;
    }
    let record = Record {
        connection: ConnectionKey { address: transfer.address, since, process: caller.process, reserved: 0 },
        time: transfer.time,
        offset,
        length: 0,
        kind: transfer.direction as u32,
        thread: caller.thread,
        descriptor: known,
        flags: 0,
        name_length: 0,
    };
    records::call(&record, transfer.buffer, transfer.length);
}

/// The connection at an address and how much of it was received, unless it leads elsewhere or is not known.
#[inline(always)]
pub(crate) fn wanted(caller: Caller, address: u64) -> Option<(ConnectionKey, u64)> {
    let connection = CONNECTIONS.get_ptr(key(caller, address))?;
    // SAFETY: as in `transferred`.
    let Connection { since, received, verdict, .. } = unsafe { *connection };
    let key = ConnectionKey { address, since, process: caller.process, reserved: 0 };
    (verdict != Verdict::Elsewhere as u32).then_some((key, received))
}

/// Whether user space said that nobody wants the connection at an address.
#[inline(always)]
pub(crate) fn leads_elsewhere(caller: Caller, address: u64) -> bool {
    // SAFETY: as in `transferred`.
    CONNECTIONS
        .get_ptr(key(caller, address))
        .is_some_and(|connection| unsafe { (*connection).verdict } == Verdict::Elsewhere as u32)
}

/// Records that a connection is given up, and forgets it. One that was never seen has nothing to tell.
#[inline(always)]
pub(crate) fn closed(caller: Caller, address: u64) {
    let key = key(caller, address);
    let Some(connection) = CONNECTIONS.get_ptr(key) else { return };
    // SAFETY: as in `transferred`.
    let Connection { since, sent, descriptor, .. } = unsafe { *connection };
    // Of two threads that close, one finds it there still.
    if CONNECTIONS.remove(key).is_err() {
        return;
    }
    records::head(&Record {
        connection: ConnectionKey { address, since, process: caller.process, reserved: 0 },
        // SAFETY: takes nothing and returns a number.
        time: unsafe { bpf_ktime_get_ns() },
        offset: sent,
        length: 0,
        kind: Kind::Closed as u32,
        thread: caller.thread,
        descriptor,
        flags: 0,
        name_length: 0,
    });
}

#[inline(always)]
fn key(caller: Caller, address: u64) -> ConnectionAddress {
    ConnectionAddress { address, process: caller.process, reserved: 0 }
}

/// The connection at an address, a new one if it is not known. Another descriptor than before is another connection: the end of the one before was not
/// seen, as where the library has no probe for it.
#[inline(always)]
fn connection(key: ConnectionAddress, transfer: &Transfer) -> Option<*mut Connection> {
    let descriptor = transfer.descriptor;
    if let Some(connection) = CONNECTIONS.get_ptr_mut(key) {
        // SAFETY: as in `transferred`.
        let known = unsafe { &mut (*connection).descriptor };
        if *known == descriptor || descriptor < 0 {
            return Some(connection);
        }
        if *known < 0 {
            *known = descriptor;
            return Some(connection);
        }
        // Where another thread removed it already, it is gone as well.
        let _gone = CONNECTIONS.remove(key);
    }
    // Of a call that sends this is its beginning, so no record is older than its connection.
    let first = Connection { since: transfer.time, sent: 0, received: 0, verdict: Verdict::Undecided as u32, descriptor };
    // Where another thread was faster, its value is found.
    let _faster = CONNECTIONS.insert(key, first, u64::from(BPF_NOEXIST));
    CONNECTIONS.get_ptr_mut(key)
}
