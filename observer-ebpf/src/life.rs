//! Beginnings and ends of processes and sockets, in a ring buffer of their own, which plaintext cannot fill.

/// What a [`Life`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LifeKind {
    /// A process executes another program (`sched:sched_process_exec`).
    Exec = 1,
    /// The last thread of a process ended (`sched:sched_process_exit` of the thread group's leader).
    Exit = 2,
    /// A TCP socket changed its state (`sock:inet_sock_set_state`).
    Socket = 3,
}

/// A record of the ring buffer `LIVES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Life {
    /// When, as [`Record::time`](crate::Record::time).
    pub time: u64,
    /// A [`LifeKind`].
    pub kind: u32,
    /// The process. Of a socket, whoever ran when it changed: the owner only where a call of its own did it (`connect`, `close`); 0
    /// where that is in another PID namespace than who observes.
    pub process: u32,
    /// The socket's address in the kernel, the same for all its records; 0 for a process.
    pub socket: u64,
    /// The states before and after (Linux `include/net/tcp_states.h`).
    pub before: u16,
    /// The state after.
    pub after: u16,
    /// Ports, in the byte order of the machine.
    pub local_port: u16,
    /// The other side's.
    pub remote_port: u16,
    /// Addresses; those of IPv4 as IPv6 has them mapped (`::ffff:0:0/96`).
    pub local: [u8; 16],
    /// The other side's.
    pub remote: [u8; 16],
}

const _: () = assert!(size_of::<Life>() == 64, "no padding");
