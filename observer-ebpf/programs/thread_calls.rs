//! Calls of a thread into its TLS library that have not returned: a small stack, because they nest.
//!
//! TLS inside TLS calls `SSL_read` of the inner connection from that of the outer one, and a library may build one of the functions on another.
//! Only the innermost call of a connection and direction counts: the others tell the same bytes again.
//!
//! A return may never come (`longjmp`, a thread that is killed), so each call keeps where the stack of the thread was: what lies deeper than
//! the stack is now has ended.

use crate::thread_sockets::ThreadSockets;

/// Calls within each other that are told apart.
const DEEPEST: usize = 4;

/// How far below its return address a function's own frame may reach where the probe at its entry sits, in bytes. Nested calls of a TLS library are
/// farther apart: whole records are read between them.
const FRAME: u64 = 256;

/// A call, from its entry on.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    pub(crate) connection: u64,
    pub(crate) buffer: u64,
    /// Where the count of bytes will be (`size_t *`), or 0: it is what is returned.
    pub(crate) count: u64,
    pub(crate) time: u64,
    /// The stack pointer at the probe of the entry: where the return address is, or inside the function's frame.
    pub(crate) stack: u64,
    pub(crate) descriptor: i32,
    pub(crate) is_sending: u32,
    /// 1: a call within this one was counted, of the same connection and direction.
    pub(crate) is_counted: u32,
    pub(crate) reserved: u32,
    /// The TCP socket that was used within it, the last one; 0 if none was.
    pub(crate) socket: u64,
}

/// What is kept of a thread.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Thread {
    pub(crate) calls: ThreadCalls,
    pub(crate) sockets: ThreadSockets,
}

impl Thread {
    pub(crate) const EMPTY: Self = Self { calls: ThreadCalls::EMPTY, sockets: ThreadSockets::EMPTY };
}

/// The calls of one thread.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadCalls {
    /// How many there are; more than [`DEEPEST`] are known by number only.
    depth: u64,
    calls: [Call; DEEPEST],
}

/// What a return finds.
pub(crate) enum Returned {
    /// The call that returns.
    From(Call),
    /// Its entry was not seen, or was too deep to keep.
    Unknown,
}

impl ThreadCalls {
    const EMPTY: Self = {
        let none = Call {
            connection: 0,
            buffer: 0,
            count: 0,
            time: 0,
            stack: 0,
            descriptor: 0,
            is_sending: 0,
            is_counted: 0,
            reserved: 0,
            socket: 0,
        };
        Self { depth: 0, calls: [none; DEEPEST] }
    };

    /// Keeps a call that begins; false if too many have begun.
    #[inline(always)]
    pub(crate) fn enter(&mut self, call: &Call) -> bool {
        // The caller of a function has its own return address above.
        self.forget_unless(|outer| outer.stack > call.stack);
        let depth = self.depth;
        self.depth = depth + 1;
        if depth >= DEEPEST as u64 {
            return false;
        }
        *self.at(depth) = *call;
        true
    }

    /// Takes the call that returns. `stack` is the stack pointer now: after the return instruction it is eight more than where the return address
    /// is, and inside the function less. The two probes need not sit at the same depth of the frame.
    #[inline(always)]
    pub(crate) fn leave(&mut self, stack: u64) -> Returned {
        self.forget_unless(|call| call.stack + FRAME >= stack);
        let depth = self.depth;
        if depth == 0 {
            return Returned::Unknown;
        }
        self.depth = depth - 1;
        if depth > DEEPEST as u64 {
            return Returned::Unknown;
        }
        Returned::From(*self.at(depth - 1))
    }

    /// Says that a call which returned was counted: the one around it, if it is of the same connection and direction, tells nothing new.
    #[inline(always)]
    pub(crate) fn counted(&mut self, inner: &Call) {
        let depth = self.depth;
        if depth == 0 || depth > DEEPEST as u64 {
            return;
        }
        let outer = self.at(depth - 1);
        if outer.connection == inner.connection && outer.is_sending == inner.is_sending {
            outer.is_counted = 1;
        }
    }

    /// Says that the thread used a socket; false if it is in no call. The innermost one did: it is the connection that the others are carried by.
    #[inline(always)]
    pub(crate) fn used(&mut self, socket: u64) -> bool {
        let depth = self.depth;
        if depth == 0 {
            return false;
        }
        if depth <= DEEPEST as u64 {
            self.at(depth - 1).socket = socket;
        }
        true
    }

    /// Takes calls off until one is still under way.
    #[inline(always)]
    fn forget_unless(&mut self, is_under_way: impl Fn(&Call) -> bool) {
        for _ in 0..DEEPEST {
            let depth = self.depth;
            if depth == 0 || depth > DEEPEST as u64 || is_under_way(self.at(depth - 1)) {
                return;
            }
            self.depth = depth - 1;
        }
    }

    #[inline(always)]
    fn at(&mut self, place: u64) -> &mut Call {
        // SAFETY: the mask keeps the place below `DEEPEST`, a power of two; the verifier sees it so.
        unsafe { &mut *(&raw mut self.calls).cast::<Call>().add((place & (DEEPEST as u64 - 1)) as usize) }
    }
}
