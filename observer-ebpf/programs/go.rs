//! Functions of Go's `crypto/tls` and HTTP/2, in Go's own calling convention.
//!
//! Arguments and the goroutine are in registers ([`Registers`]). A probe at the entry may sit at any instruction before these
//! registers and the stack pointer change. Only the push of the frame pointer may come before it.

use aya_ebpf::helpers::bpf_ktime_get_ns;
use aya_ebpf::macros::uprobe;
use aya_ebpf::programs::ProbeContext;
use observer_ebpf::{ConnectionKey, Kind, Loss, Record, UNWANTED, Verdict};

use crate::admission::Caller;
use crate::calls;
use crate::connections::{self, CallSocket, Transfer};
use crate::goroutines::{Encoding, Goroutine, ReadCall, Reading};
use crate::header_blocks;
use crate::kernel::{self, Structure};
use crate::maps::{GO_ENCODINGS, GO_READS, count};
use crate::memory;
use crate::records::{self, Direction, Text};
use crate::registers::Registers;
use crate::sockets;
use crate::thread_stack;

/// `crypto/tls.(*Conn).Write(b []byte)`, at the entry.
#[uprobe]
pub(crate) fn go_write(context: ProbeContext) -> u32 {
    let file = calls::begun(&context).file;
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let (address, buffer, length) = (registers.go_argument(0), registers.go_argument(1), registers.go_argument(2));
    transferred(caller, || file, Direction::Sent, (address, buffer, length));
    0
}

/// `crypto/tls.(*Conn).Read(b []byte)`, at the entry.
#[uprobe]
pub(crate) fn go_read(context: ProbeContext) -> u32 {
    calls::begun(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let call =
        ReadCall { connection: registers.go_argument(0), buffer: registers.go_argument(1), length: registers.go_argument(2) };
    let key = goroutine(caller, registers);
    let reading = Reading { call, goroutine: key.address, is_over: 0, fields: 0 };
    if let Some(last) = GO_READS.get_ptr_mut(key) {
        // An insertion costs several times as much.
        // SAFETY: the kernel keeps the value's memory while the program runs. If the map gives it to another goroutine now, the return of
        // that one's call finds the address of this one.
        unsafe { *last = reading };
    } else if GO_READS.insert(key, reading, 0).is_err() {
        count(Loss::CallNotKept, 1);
    }
    0
}

/// `crypto/tls.(*Conn).Read`, at each return instruction.
#[uprobe]
pub(crate) fn go_read_return(context: ProbeContext) -> u32 {
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let came = registers.result();
    let key = goroutine(caller, registers);
    let kept = GO_READS.get_ptr_mut(key).and_then(|kept| {
        // SAFETY: only this goroutine writes the value of its key, and the kernel keeps its memory while the program runs.
        let Reading { call, goroutine, is_over, .. } = unsafe { *kept };
        // SAFETY: as above.
        unsafe { (*kept).is_over = 1 };
        (is_over == 0 && goroutine == key.address).then_some(call)
    });
    // n is an int. With an error, n is 0 or the number of bytes before the error.
    if came.cast_signed() <= 0 {
        return 0;
    }
    let call = kept.or_else(|| {
        let call = spilled(registers.stack())?;
        // Without room, its fields are not joined to a connection.
        let _full = GO_READS.insert(key, Reading { call, goroutine: key.address, is_over: 1, fields: 0 }, 0);
        Some(call)
    });
    let Some(call) = call else {
        count(Loss::EntryNotSeen, 1);
        return 0;
    };
    if call.connection == 0 || came > call.length {
        count(Loss::EntryNotSeen, 1);
        return 0;
    }
    let file = || calls::cookie(&context).file;
    transferred(caller, file, Direction::Received, (call.connection, call.buffer, came));
    0
}

/// The arguments of a call whose entry was not seen. The caller leaves room for register arguments above the return address, and
/// the function stores them there before it calls others.
#[inline(always)]
fn spilled(stack: u64) -> Option<ReadCall> {
    memory::value::<ReadCall>(stack + 8)
}

/// `crypto/tls.(*Conn).Close()`, at the entry.
#[uprobe]
pub(crate) fn go_close(context: ProbeContext) -> u32 {
    calls::begun(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    let address = Registers::of(&context).go_argument(0);
    connections::notified(caller, address);
    connections::closed(caller, address);
    0
}

/// `(*clientStream).encodeAndWriteHeaders(req)` of Go's HTTP/2 client, at the entry. In all of these versions the stream begins
/// with a pointer to its `ClientConn` (the same files as for [`header_blocks::TLS_CONNECTION`]).
///
/// From here on the goroutine encodes fields of this connection. Fields of other connections must not leave the process.
#[uprobe]
pub(crate) fn go_encodes(context: ProbeContext) -> u32 {
    calls::begun_for_fields(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let client = memory::value::<u64>(registers.go_argument(0)).unwrap_or(0);
    let Some(connection) = header_blocks::connection_of(client) else { return 0 };
    if is_wanted(caller, connection) {
        // Without room, its fields are not recorded.
        let _full = GO_ENCODINGS.insert(goroutine(caller, registers), Encoding { client, connection, fields: 0, reserved: 0 }, 0);
    }
    0
}

/// `(*clientStream).encodeAndWriteHeaders`, at each return instruction.
#[uprobe]
pub(crate) fn go_encoded(context: ProbeContext) -> u32 {
    thread_stack::keep(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    // It is absent for connections that do not lead to an API server.
    let _gone = GO_ENCODINGS.remove(goroutine(caller, Registers::of(&context)));
    0
}

/// Whether a connection leads to an API server. If it has no verdict yet, its socket decides.
#[inline(always)]
fn is_wanted(caller: Caller, connection: u64) -> bool {
    match connections::verdict(caller, connection) {
        Some(verdict) if verdict != Verdict::Undecided as u32 => verdict == Verdict::Wanted as u32,
        _unknown => socket(connection, 0).is_some_and(|(_, socket)| sockets::leads_to_api_server(socket)),
    }
}

/// `hpack.(*Encoder).WriteField(f HeaderField)`, at the entry: name and value, each as a pointer and a length.
///
/// The goroutine has begun a block, but the field may not belong to it. The end of a block is not seen if the probes were detached
/// meanwhile, the goroutine ended within it (`runtime.Goexit`), or its process did. Then another goroutine may have its address,
/// with fields of any connection. So the encoder itself must be that of the connection, and the connection must still be wanted.
#[uprobe]
pub(crate) fn go_sent_field(context: ProbeContext) -> u32 {
    calls::begun_for_fields(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let Some(encoding) = GO_ENCODINGS.get_ptr_mut(goroutine(caller, registers)) else { return 0 };
    // SAFETY: only this goroutine writes the value of its key, and the kernel keeps its memory while the program runs.
    let Encoding { client, connection, fields, .. } = unsafe { *encoding };
    let is_of_block = header_blocks::encodes_for(registers.go_argument(0), client, connection);
    if is_of_block == Some(false) {
        return 0;
    }
    // SAFETY: as above.
    unsafe { (*encoding).fields = fields.wrapping_add(1) };
    // The field may belong to the block, which then lacks it: the numbers of the other fields show that.
    if is_of_block.is_none() || !is_wanted(caller, connection) {
        return 0;
    }
    let goroutine = ConnectionKey { address: registers.goroutine(), since: 0, process: caller.process, reserved: 0 };
    let record = http2(caller, Kind::SentField, goroutine, 0);
    field(registers, &Record { descriptor: fields as i32, ..record });
    0
}

/// `hpack.(*Decoder).callEmit(hf HeaderField)`, at the entry.
///
/// One goroutine reads a connection, assembles frames and decodes their header blocks (`(*clientConnReadLoop).run`,
/// `(*serverConn).readFrames`), so the field was in its last read. But a goroutine may also decode bytes that it read elsewhere,
/// without TLS. Its last read is kept when it ends, and another goroutine may get its address. So the decoder itself must decode
/// for this connection.
#[uprobe]
pub(crate) fn go_received_field(context: ProbeContext) -> u32 {
    calls::begun_for_fields(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let Some(reading) = GO_READS.get_ptr_mut(goroutine(caller, registers)) else { return 0 };
    // SAFETY: only this goroutine writes the value of its key, and the kernel keeps its memory while the program runs.
    let Reading { call, fields, .. } = unsafe { *reading };
    // SAFETY: as above.
    unsafe { (*reading).fields = fields.wrapping_add(1) };
    if !header_blocks::decodes_from(registers.go_argument(0), call.connection) {
        return 0;
    }
    let Some((connection, received)) = connections::wanted(caller, call.connection) else { return 0 };
    let record = http2(caller, Kind::ReceivedField, connection, received);
    field(registers, &Record { descriptor: fields as i32, ..record });
    0
}

/// `(*ClientConn).writeHeaders(streamID uint32, …)` of Go's HTTP/2 client, at the entry. The record contains the address of the
/// goroutine, by which user space joins it with the fields recorded before.
#[uprobe]
pub(crate) fn go_headers(context: ProbeContext) -> u32 {
    calls::begun_for_fields(&context);
    let Some(caller) = Caller::admitted() else { return 0 };
    let registers = Registers::of(&context);
    let Some(encoding) = GO_ENCODINGS.get_ptr(goroutine(caller, registers)) else { return 0 };
    // SAFETY: as in `go_sent_field`.
    let Encoding { connection, fields, .. } = unsafe { *encoding };
    // User space may have dismissed the connection meanwhile.
    let flags = if is_wanted(caller, connection) { 0 } else { UNWANTED };
    // A connection without traffic has no entry in the map yet, so the record has only its address.
    let connection = ConnectionKey { address: connection, since: 0, process: caller.process, reserved: 0 };
    // The upper half of the register is undefined.
    let stream = registers.go_argument(1) & u64::from(u32::MAX);
    // `records::number` counts a lost record.
    let record = Record { descriptor: fields as i32, flags, ..http2(caller, Kind::Headers, connection, stream) };
    let _lost = records::number(&record, registers.goroutine());
    0
}

#[inline(always)]
fn field(registers: Registers<'_>, record: &Record) {
    let name = Text { address: registers.go_argument(1), length: registers.go_argument(2) };
    let value = Text { address: registers.go_argument(3), length: registers.go_argument(4) };
    records::field(record, name, value);
}

#[inline(always)]
fn goroutine(caller: Caller, registers: Registers<'_>) -> Goroutine {
    Goroutine { process: u64::from(caller.process), address: registers.goroutine() }
}

#[inline(always)]
fn transferred(caller: Caller, file: impl FnOnce() -> u16, direction: Direction, (address, buffer, length): (u64, u64, u64)) {
    if length == 0 {
        return;
    }
    // SAFETY: takes nothing and returns a number.
    let time = unsafe { bpf_ktime_get_ns() };
    let transfer = Transfer { address, buffer, length, time, direction };
    let socket = |known| match socket(address, known) {
        Some((descriptor, socket)) => CallSocket { used: socket.address(), descriptor, nearby: 0 },
        None => CallSocket { used: 0, descriptor: -1, nearby: 0 },
    };
    connections::transferred(caller, &transfer, socket, file);
}

/// The descriptor and the socket of the `net.Conn` in a `tls.Conn`. It must be a `*net.TCPConn`, or a structure that embeds one as
/// a `net.Conn`. The embedded one is the first member, or comes after a member of one word, as in client-go's certificate rotation
/// (kubernetes/client-go `util/connrotation/connrotation.go`, `closableConn`, v0.34). Other types have other data there, which may
/// look like a descriptor, so the descriptor must be that of a TCP socket. `known` is as in [`kernel::socket_of`].
#[inline(always)]
fn socket(connection: u64, known: u64) -> Option<(i32, Structure)> {
    let inner = memory::value::<u64>(connection + 8)?;
    if let Some(socket) = socket_of_tcp(inner, known) {
        return Some(socket);
    }
    // The second word of an interface points to the value.
    for embedded in [16, 8] {
        if let Some(socket) = memory::value::<u64>(inner + embedded).and_then(|inner| socket_of_tcp(inner, known)) {
            return Some(socket);
        }
    }
    None
}

/// The descriptor and the socket of a `*net.TCPConn`. Its `netFD` begins with a `poll.FD`, which has the descriptor after a mutex
/// of 16 bytes (Go `src/net/fd_posix.go`, `src/internal/poll/fd_unix.go`, go1.26).
#[inline(always)]
fn socket_of_tcp(connection: u64, known: u64) -> Option<(i32, Structure)> {
    let number = memory::value::<i64>(memory::value::<u64>(connection)? + 16)?;
    let number = i32::try_from(number).ok().filter(|number| *number >= 0)?;
    kernel::socket_of(number, known).map(|socket| (number, socket))
}

#[inline(always)]
fn http2(caller: Caller, kind: Kind, connection: ConnectionKey, offset: u64) -> Record {
    Record {
        connection,
        // SAFETY: takes nothing and returns a number.
        time: unsafe { bpf_ktime_get_ns() },
        offset,
        length: 0,
        kind: kind as u32,
        thread: caller.thread,
        descriptor: -1,
        flags: 0,
        name_length: 0,
    }
}
