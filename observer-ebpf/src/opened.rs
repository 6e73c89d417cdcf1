//! Where a TLS connection leads, and whose it is.

/// An address and a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Endpoint {
    /// That of IPv4 as IPv6 has it mapped (`::ffff:0:0/96`).
    pub address: [u8; 16],
    /// In the byte order of the machine.
    pub port: u16,
    /// Always 0.
    pub reserved: u16,
}

/// Which side of a connection a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Role {
    /// The other side is an API server.
    Client = 1,
    /// It is the API server, and the other side is none.
    Server = 2,
}

/// The payload of a [`Kind::Opened`](crate::Kind::Opened).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Opened {
    /// The socket's address in the kernel, as [`LifetimeEvent::socket`](crate::LifetimeEvent::socket).
    pub socket: u64,
    /// The number of the process's cgroup: the inode of its folder.
    pub cgroup: u64,
    /// When the process was started, in nanoseconds since the machine was, the time that it slept included.
    pub started: u64,
    /// The name of the process (`comm` of proc(5)): up to the first 0.
    pub name: [u8; 16],
    /// The process's own end.
    pub local: Endpoint,
    /// The other side's.
    pub remote: Endpoint,
    /// The process's [`Role`].
    pub role: u32,
    /// The file through whose functions it is seen, as [`AttachCookie::file`](crate::AttachCookie::file).
    pub file: u32,
}

const _: () = assert!(size_of::<Endpoint>() == 20 && size_of::<Opened>() == 88, "no padding");
