//! Events in the lifetimes of processes and sockets. They have a ring buffer of their own, which plaintext cannot fill.

/// The kind of a [`LifetimeEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LifetimeKind {
    /// A process executed another program (`sched_process_exec`).
    Exec = 1,
    /// The last thread of a process has ended (`sched_process_exit`, when the thread group has none left).
    Exit = 2,
    /// The socket of a recorded connection changed its state (`inet_sock_set_state`), or had changed it before it became known.
    Socket = 3,
}

/// A record of the ring buffer `LIFETIMES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct LifetimeEvent {
    /// Time of the event, as [`Record::time`](crate::Record::time).
    pub time: u64,
    /// A [`LifetimeKind`].
    pub kind: u32,
    /// PID of the process; 0 for a socket, since any process may run while it changes.
    pub process: u32,
    /// Address of the socket in the kernel, the same in all its events; 0 for a process.
    pub socket: u64,
    /// State before the change (Linux `include/net/tcp_states.h`); 0 if the changes up to `after` were not seen.
    pub before: u16,
    /// State after the change.
    pub after: u16,
    /// The socket's error before it changed; 0 for none. Reading the error clears it, so it may be missing where `before` is 0.
    pub error: i32,
}

const _: () = assert!(size_of::<LifetimeEvent>() == 32, "no padding");
