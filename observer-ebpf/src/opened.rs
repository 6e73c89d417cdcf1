//! The endpoints and the process of a TLS connection.

/// An address and a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Endpoint {
    /// IPv4 addresses are mapped to IPv6 (`::ffff:0:0/96`).
    pub address: [u8; 16],
    /// In the byte order of the machine.
    pub port: u16,
    /// Always 0.
    pub reserved: u16,
}

/// The role of a process in a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Role {
    /// The remote end is an API server.
    Client = 1,
    /// The local end is an API server, and the remote end is not.
    Server = 2,
}

/// The payload of a [`Kind::Opened`](crate::Kind::Opened).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Opened {
    /// Address of the socket in the kernel, as [`LifetimeEvent::socket`](crate::LifetimeEvent::socket).
    pub socket: u64,
    /// Number of the process's cgroup: the inode of its folder.
    pub cgroup: u64,
    /// Start time of the process, in nanoseconds since boot, including time suspended.
    pub started: u64,
    /// Name of the process (`comm` of proc(5)), up to the first 0.
    pub name: [u8; 16],
    /// The local end of the connection, which the process has.
    pub local: Endpoint,
    /// The remote end of the connection.
    pub remote: Endpoint,
    /// The [`Role`] of the process.
    pub role: u32,
    /// The file whose functions show the connection, as [`AttachCookie::file`](crate::AttachCookie::file).
    pub file: u32,
}

const _: () = assert!(size_of::<Endpoint>() == 20 && size_of::<Opened>() == 88, "no padding");
