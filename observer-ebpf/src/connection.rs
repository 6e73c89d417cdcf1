//! TLS connections, as the kernel programs distinguish them.

/// A TLS connection of a process. The library may reuse the address after it has freed the connection; `since` distinguishes the
/// two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct ConnectionKey {
    /// Address of the library's object in the memory of the process: `SSL *`, `*tls.Conn`.
    pub address: u64,
    /// When the programs first saw it, as [`Record::time`](crate::Record::time).
    pub since: u64,
    /// PID of its process (thread group), in watchtap's PID namespace.
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

/// Maximum number of bytes of a connection, in both directions together, that are recorded before its socket is known.
pub const UNDECIDED_BYTES: u64 = 64 << 10;

/// Maximum time, in nanoseconds, for which a connection is recorded before its socket is known.
pub const UNDECIDED_TIME: u64 = 1_000_000_000;

/// The state that the programs keep of a connection; the value of the map `CONNECTIONS`.
///
/// User space writes the value only to set [`Verdict::Elsewhere`]: for a connection that is reported twice, or for which user space
/// has no room. The counts are not needed afterwards. User space reads the value and checks that `since` is that of its connection.
/// Then it writes the value back with the verdict, if the key still exists (`BPF_EXIST`). Counts that the programs add meanwhile
/// are lost, so no other verdict may be written that way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Connection {
    /// When it was first seen.
    pub since: u64,
    /// Number of bytes sent so far.
    pub sent: u64,
    /// Number of bytes received so far.
    pub received: u64,
    /// The socket's address in the kernel; 0 until it is known.
    pub socket: u64,
    /// Whether it is recorded, a [`Verdict`].
    pub verdict: u32,
    /// The descriptor of its socket; negative if it could not be read.
    pub descriptor: i32,
    /// 1 once the library was asked to send `close_notify`.
    pub is_notified: u32,
    /// 1 once the connection was counted as [`Loss::SocketNotKnown`](crate::Loss::SocketNotKnown), so that it is counted only once.
    pub is_late: u32,
    /// The file through which it was first seen, as [`AttachCookie::file`](crate::AttachCookie::file).
    pub file: u32,
    /// 1 once bytes were recorded before its socket was known.
    pub is_recorded: u32,
    /// Start time of its process, in nanoseconds since boot, including time suspended. Together with `execs` it identifies the
    /// program that owns the connection. A later process may get the same PID, and the same program often has its objects at the
    /// same addresses.
    pub started: u64,
    /// Number of programs that its process had executed.
    pub execs: u64,
    /// The ports of its socket once known, the local one in the upper half. Together with the socket's address they distinguish it
    /// from a later socket at the same address.
    pub ports: u32,
    /// Always 0.
    pub reserved: u32,
}

/// Whether a connection is recorded. The programs decide it as soon as they know its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Verdict {
    /// Its socket is unknown: it is recorded up to [`UNDECIDED_BYTES`] and [`UNDECIDED_TIME`].
    Undecided = 0,
    /// One of its ends is an API server, and it is recorded.
    Wanted = 1,
    /// It is unwanted: its bytes are counted, but not recorded.
    Elsewhere = 2,
    /// Go has begun to close it, which is recorded. Concurrent or later calls on it do not make a new connection.
    Closed = 3,
}

const _: () = assert!(
    size_of::<ConnectionKey>() == 24 && size_of::<ConnectionAddress>() == 16 && size_of::<Connection>() == 80,
    "no padding"
);
