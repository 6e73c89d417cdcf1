//! Calls of a thread into its TLS library that have not returned: a small stack, because calls nest.
//!
//! With TLS inside TLS, a call of `SSL_read` on one connection may cause such a call on the other one. A library may also implement
//! one of its functions by another. Only the innermost call of a connection and direction counts: the outer calls transfer the same
//! bytes.
//!
//! A call may never return (`longjmp`, a killed thread). So each call keeps the stack pointer of the thread: a call that is deeper
//! than the stack is now has ended.

use core::arch::asm;

use crate::thread_sockets::ThreadSockets;

/// Maximum number of nested calls that are kept.
const DEEPEST: usize = 4;

/// Maximum distance, in bytes, between the return address of a function and its stack pointer at the probe of its entry. Nested
/// calls of a TLS library are further apart, since they read complete records in between.
const FRAME: u64 = 256;

/// A call, since its entry.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Call {
    pub(crate) connection: u64,
    pub(crate) buffer: u64,
    /// Address at which the function stores the number of bytes (`size_t *`); 0 if it returns the number.
    pub(crate) count: u64,
    pub(crate) time: u64,
    /// The stack pointer at the probe of the entry. It points to the return address, or into the function's frame.
    pub(crate) stack: u64,
    pub(crate) descriptor: i32,
    pub(crate) is_sending: u32,
    /// 1 if a call within this one was counted, for the same connection and direction.
    pub(crate) is_counted: u32,
    pub(crate) reserved: u32,
    /// The last TCP socket that was used within it; 0 if there is none.
    pub(crate) socket: u64,
}

/// The state of a thread.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Thread {
    pub(crate) calls: ThreadCalls,
    pub(crate) sockets: ThreadSockets,
}

impl Thread {
    pub(crate) const EMPTY: Self = Self { calls: ThreadCalls::EMPTY, sockets: ThreadSockets::EMPTY };
}

/// A stack of calls.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ThreadCalls {
    /// Number of calls; those beyond [`DEEPEST`] are only counted.
    depth: u64,
    calls: [Call; DEEPEST],
}

/// The result of a return.
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

    /// Adds a call that begins. Returns false if too many have begun.
    #[inline(always)]
    pub(crate) fn enter(&mut self, call: &Call) -> bool {
        // The return address of a function's caller is at a higher address.
        self.forget_unless(|outer| outer.stack > call.stack);
        let depth = self.depth;
        self.depth = depth + 1;
        if depth >= DEEPEST as u64 {
            return false;
        }
        *self.at(depth) = *call;
        true
    }

    /// Removes the call that returns. `stack` is the stack pointer now. After the return instruction it is eight bytes above the
    /// return address, and inside the function it is lower. The two probes may sit at different depths of the frame.
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

    /// Whether no call is under way.
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.depth == 0
    }

    /// Notes that a returned call was counted. The call around it transfers the same bytes if its connection and direction are the
    /// same.
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

    /// Notes that the thread used a socket. Returns false if the thread is in no call. The innermost call used the socket, since
    /// its connection carries the others.
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

    /// Removes calls until one is still under way.
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
    fn at(&mut self, index: u64) -> &mut Call {
        let mut index = index;
        // The compiler knows that the mask changes nothing, and would omit it. The verifiers before Linux 6.6 need it.
        // SAFETY: one instruction that only computes.
        unsafe {
            asm!("{index} &= {mask}", index = inout(reg) index, mask = const DEEPEST - 1, options(pure, nomem, nostack));
        }
        // SAFETY: the mask keeps the index below `DEEPEST`, a power of two, which the verifier can follow.
        unsafe { &mut *(&raw mut self.calls).cast::<Call>().add(index as usize) }
    }
}
