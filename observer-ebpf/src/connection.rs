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

/// What the programs keep of a connection; the value of the map `CONNECTIONS`.
///
/// User space writes it for one reason: to say [`Verdict::Elsewhere`], after which the counts are of no use to it. It looks the value up, sees
/// that `since` is that of the connection it means, and puts it back with the verdict if the key is still there (`BPF_EXIST`). What the programs count
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
    /// What user space said of it, a [`Verdict`].
    pub verdict: u32,
    /// The descriptor of its socket, negative where it could not be read.
    pub descriptor: i32,
}

/// What user space wants of a connection. It says so after the first record, when it knows where the socket leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Verdict {
    /// It has not said: the connection is recorded.
    Undecided = 0,
    /// The connection is recorded.
    Wanted = 1,
    /// It leads elsewhere: its bytes are counted, and not recorded.
    Elsewhere = 2,
}

const _: () = assert!(
    size_of::<ConnectionKey>() == 24 && size_of::<ConnectionAddress>() == 16 && size_of::<Connection>() == 32,
    "no padding"
);
