//! Functions of OpenSSL and of libraries with its interface. The arguments are kept at the entry, and the bytes are recorded at the
//! return, when their number is known.
//!
//! So a write that must be repeated (`SSL_ERROR_WANT_WRITE`) counts once, when it is accepted. A partial write counts with its
//! accepted bytes.

use aya_ebpf::helpers::bpf_ktime_get_ns;
use aya_ebpf::macros::uprobe;
use aya_ebpf::programs::ProbeContext;
use observer_ebpf::{DescriptorOffsets, Loss};

use crate::admission::Caller;
use crate::calls;
use crate::connections::{self, CallSocket, Transfer};
use crate::maps::{SSL_CALLS, count};
use crate::memory;
use crate::records::Direction;
use crate::registers::Registers;
use crate::ssl_threads;
use crate::thread_calls::{Call, Returned, Thread};

/// Bits in the type of a BIO whose number is a descriptor: `BIO_TYPE_DESCRIPTOR | BIO_TYPE_SOURCE_SINK`.
const HAS_DESCRIPTOR: u32 = 0x0100 | 0x0400;

/// The state of a thread that calls for the first time. It is too large for the stack.
static EMPTY: Thread = Thread::EMPTY;

/// `SSL_write(SSL *, const void *, int)`, at the entry.
#[uprobe]
pub(crate) fn ssl_write(context: ProbeContext) -> u32 {
    entered(&context, Direction::Sent, 0)
}

/// `SSL_read(SSL *, void *, int)`, at the entry.
#[uprobe]
pub(crate) fn ssl_read(context: ProbeContext) -> u32 {
    entered(&context, Direction::Received, 0)
}

/// `SSL_write_ex(SSL *, const void *, size_t, size_t *written)`, at the entry.
#[uprobe]
pub(crate) fn ssl_write_ex(context: ProbeContext) -> u32 {
    entered(&context, Direction::Sent, Registers::of(&context).c_argument(3))
}

/// `SSL_read_ex(SSL *, void *, size_t, size_t *readbytes)`, at the entry.
#[uprobe]
pub(crate) fn ssl_read_ex(context: ProbeContext) -> u32 {
    entered(&context, Direction::Received, Registers::of(&context).c_argument(3))
}

/// Any of the four functions above: at the return instruction, or before it where the result is in its register already.
#[uprobe]
pub(crate) fn ssl_return(context: ProbeContext) -> u32 {
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let (result, stack) = (registers.result() as u32 as i32, registers.stack());
    let Some(thread) = SSL_CALLS.get_ptr_mut(caller.both) else {
        if result > 0 {
            count(Loss::EntryNotSeen, 1);
        }
        return 0;
    };
    // SAFETY: only this thread has this key, and no other program runs for the thread meanwhile.
    let thread = unsafe { &mut *thread };
    let returned = thread.calls.leave(stack);
    // All of them return 0 or less if nothing was transferred.
    if result <= 0 {
        return 0;
    }
    let Returned::From(call) = returned else {
        // A call within others was too deep to keep, and was counted at its entry.
        if thread.calls.is_empty() {
            count(Loss::EntryNotSeen, 1);
        }
        return 0;
    };
    thread.calls.counted(&call);
    if call.is_counted == 0 {
        transferred(caller, thread, &call, result, || calls::cookie(&context).file);
    }
    0
}

/// `SSL_shutdown(SSL *)`, at the entry.
#[uprobe]
pub(crate) fn ssl_shutdown(context: ProbeContext) -> u32 {
    calls::begun(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    connections::notified(caller, Registers::of(&context).c_argument(0));
    0
}

/// `SSL_free(SSL *)`, at the entry.
#[uprobe]
pub(crate) fn ssl_free(context: ProbeContext) -> u32 {
    calls::begun(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    connections::freed(caller, Registers::of(&context).c_argument(0));
    0
}

#[inline(always)]
fn entered(context: &ProbeContext, direction: Direction, count_at: u64) -> u32 {
    let offsets = calls::begun(context).descriptor;
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(context);
    let connection = registers.c_argument(0);
    let call = Call {
        connection,
        buffer: registers.c_argument(1),
        count: count_at,
        // SAFETY: takes nothing and returns a number.
        time: unsafe { bpf_ktime_get_ns() },
        stack: registers.stack(),
        descriptor: descriptor(connection, offsets),
        is_sending: u32::from(direction == Direction::Sent),
        is_counted: 0,
        reserved: 0,
        socket: 0,
    };
    if SSL_CALLS.get_ptr(caller.both).is_none() {
        // Without room, the look-up below finds nothing.
        ssl_threads::begin(caller.both, &EMPTY);
    }
    let is_kept = match SSL_CALLS.get_ptr_mut(caller.both) {
        Some(thread) => {
            // SAFETY: as in `ssl_return`.
            let thread = unsafe { &mut *thread };
            match direction {
                Direction::Sent => thread.sockets.writes(connection),
                Direction::Received => thread.sockets.reads(connection),
            }
            thread.calls.enter(&call)
        }
        None => false,
    };
    if !is_kept {
        count(Loss::CallNotKept, 1);
    }
    0
}

#[inline(always)]
fn transferred(caller: Caller, thread: &mut Thread, call: &Call, result: i32, file: impl FnOnce() -> u16) {
    let length = if call.count == 0 { Some(u64::from(result.unsigned_abs())) } else { memory::value::<u64>(call.count) };
    let Some(length) = length else {
        count(Loss::Unreadable, 1);
        return;
    };
    let (direction, time) = if call.is_sending == 0 {
        // SAFETY: takes nothing and returns a number.
        (Direction::Received, unsafe { bpf_ktime_get_ns() })
    } else {
        (Direction::Sent, call.time)
    };
    let mut socket = CallSocket { used: call.socket, descriptor: call.descriptor, nearby: 0 };
    // As far as known, such a call reads from memory or writes to it.
    if socket.used == 0 && socket.descriptor < 0 {
        match direction {
            Direction::Sent => thread.sockets.wrote(call.connection, length),
            Direction::Received => socket.nearby = thread.sockets.read(call.connection, length),
        }
    }
    let transfer = Transfer { address: call.connection, buffer: call.buffer, length, time, direction };
    connections::transferred(caller, &transfer, |_known| socket, file);
}

/// The descriptor of the BIO that is read from; negative if there is none.
#[inline(always)]
fn descriptor(connection: u64, offsets: DescriptorOffsets) -> i32 {
    if offsets.bio <= 0 {
        return -1;
    }
    let number = || {
        let bio = memory::value::<u64>(connection.wrapping_add_signed(i64::from(offsets.bio)))?;
        let method = memory::value::<u64>(bio.wrapping_add_signed(i64::from(offsets.method)))?;
        let kind = memory::value::<u32>(method)?;
        if kind & HAS_DESCRIPTOR != HAS_DESCRIPTOR {
            return None;
        }
        memory::value::<i32>(bio.wrapping_add_signed(i64::from(offsets.number)))
    };
    number().unwrap_or(-1)
}
