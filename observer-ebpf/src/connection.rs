//! A TLS connection as the kernel can tell it from others.

/// A TLS connection of a process. The address may come again once the connection is given up; `since` tells the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct ConnectionKey {
    /// Where the library's object is in the memory of the process: `SSL *`, `*tls.Conn`.
    pub address: u64,
    /// When the programs first saw it, as [`Record::time`](crate::Record::time).
    pub since: u64,
    /// The process (thread group) that has it, as the PID namespace of who observes numbers it.
    pub process: u32,
    /// Always 0.
    pub reserved: u32,
}

/// The key of the map `CONNECTIONS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct ConnectionAddress {
    /// As [`ConnectionKey::address`].
    pub address: u64,
    /// As [`ConnectionKey::process`].
    pub process: u32,
    /// Always 0.
    pub reserved: u32,
}

/// So many bytes of a connection, of both directions together, are recorded before its socket is known.
pub const UNDECIDED_BYTES: u64 = 64 << 10;

/// For so long, in nanoseconds, a connection is recorded before its socket is known.
pub const UNDECIDED_TIME: u64 = 1_000_000_000;

/// What the programs keep of a connection; the value of the map `CONNECTIONS`.
///
/// User space writes it for one reason: to say [`Verdict::Elsewhere`] of a connection that it is told of twice or has no room for, after which the counts
/// are of no use to it. It looks the value up, sees that `since` is that of the connection it means, and puts it back with the verdict if the key is still there (`BPF_EXIST`). What the programs count
/// meanwhile is lost, so no other verdict may be written that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Connection {
    /// When it was first seen.
    pub since: u64,
    /// Bytes that were sent in all.
    pub sent: u64,
    /// Bytes that were received in all.
    pub received: u64,
    /// The socket's address in the kernel; 0 until it is known.
    pub socket: u64,
    /// Whether it is recorded, a [`Verdict`].
    pub verdict: u32,
    /// The descriptor of its socket, negative where it could not be read.
    pub descriptor: i32,
    /// 1 once the library was asked to say that nothing more will be sent (`close_notify`).
    pub is_notified: u32,
    /// 1 once its socket is not known in time, which is counted then.
    pub is_late: u32,
    /// Through which file it was first seen, as [`AttachCookie::file`](crate::AttachCookie::file).
    pub file: u32,
    /// 1 once bytes are recorded of it before its socket is known.
    pub is_recorded: u32,
    /// When its process was started, in nanoseconds since the machine was, the time that it slept included. With `execs` it tells a connection that a process of
    /// before has left behind: another one may get its number, and the same program often has its objects at the same addresses.
    pub started: u64,
    /// How often its process had executed another program.
    pub execs: u64,
    /// The ports of its socket once that is known, its own above the other side's: with the socket's address they tell it from a later one in its place.
    pub ports: u32,
    /// Always 0.
    pub reserved: u32,
}

/// Whether a connection is recorded. The programs say so as soon as they know its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Verdict {
    /// Its socket is not known: it is recorded up to [`UNDECIDED_BYTES`] and [`UNDECIDED_TIME`].
    Undecided = 0,
    /// It leads to an API server, or comes from one, and is recorded.
    Wanted = 1,
    /// It leads elsewhere, or is not wanted: its bytes are counted, and not recorded.
    Elsewhere = 2,
    /// Go has begun to close it, which is told. Calls that go on meanwhile, or come later, are not of a new connection.
    Closed = 3,
}

const _: () = assert!(
    size_of::<ConnectionKey>() == 24 && size_of::<ConnectionAddress>() == 16 && size_of::<Connection>() == 80,
    "no padding"
);
