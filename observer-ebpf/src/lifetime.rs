//! Beginnings and ends of processes and sockets, in a ring buffer of their own, which plaintext cannot fill.

/// What a [`LifetimeEvent`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LifetimeKind {
    /// A process executes another program (`sched_process_exec`).
    Exec = 1,
    /// The last thread of a process ended (`sched_process_exit`, when the thread group has none left).
    Exit = 2,
    /// The socket of a connection that is recorded changed its state (`inet_sock_set_state`), or was found changed when it became known.
    Socket = 3,
}

/// A record of the ring buffer `LIFETIMES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LifetimeEvent {
    /// When, as [`Record::time`](crate::Record::time).
    pub time: u64,
    /// A [`LifetimeKind`].
    pub kind: u32,
    /// The process; 0 for a socket, which changes on behalf of whoever runs.
    pub process: u32,
    /// The socket's address in the kernel, the same for all its records; 0 for a process.
    pub socket: u64,
    /// The state before (Linux `include/net/tcp_states.h`); 0 where the changes up to `after` were not seen.
    pub before: u16,
    /// The state after.
    pub after: u16,
    /// What had gone wrong with the socket before it changed, an error number; 0 for nothing. A process that reads the number takes it away, so where `before` is 0 it
    /// may be missing.
    pub error: i32,
}

const _: () = assert!(size_of::<LifetimeEvent>() == 32, "no padding");
