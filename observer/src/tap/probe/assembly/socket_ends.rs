//! How the two directions of a connection ended, by the states of its TCP socket.
//!
//! ```text
//!                 the process ends its direction (FIN)
//!   ESTABLISHED ─────────────────────────────────────▶ FIN_WAIT1 ─▶ FIN_WAIT2 ─▶ CLOSE
//!        │                                                 │
//!        │ the other side ends its own (FIN)               │ it ends its own, too
//!        ▼                                                 ▼
//!   CLOSE_WAIT ──────────────────▶ LAST_ACK ─▶ CLOSE    CLOSING ─▶ CLOSE
//!               the process follows
//!
//!   any state ─▶ CLOSE with an error: the other side's RST, or a path that died; EPIPE: its RST behind its FIN
//!   ESTABLISHED or CLOSE_WAIT ─▶ CLOSE without one: the process's own RST (it left bytes unread, or set SO_LINGER to 0)
//! ```
//!
//! A socket that waits in `TIME_WAIT` is another structure of the kernel, so this one goes to `CLOSE` before (Linux `net/ipv4/tcp_minisocks.c`,
//! `tcp_time_wait`). From `FIN_WAIT2` it may do so before the other side has ended its direction, so nothing is said of that. Whether TLS was ended
//! before (`close_notify`) cannot be seen here.
//!
//! A state says which FINs went by, so one that was not told is known by the next change. What a socket was when it became known is told with no state before: if
//! that is `CLOSE` and its error was taken away, how it came to that is not known, and no end is told.

use observer_core::time::Timestamp;
use observer_ebpf::Life;

use super::transfer::Way;
use crate::intake::EndManner;

/// Linux `include/net/tcp_states.h`.
const ESTABLISHED: u16 = 1;
const FIN_WAIT1: u16 = 4;
const FIN_WAIT2: u16 = 5;
pub(super) const CLOSE: u16 = 7;
const CLOSE_WAIT: u16 = 8;
const LAST_ACK: u16 = 9;
const CLOSING: u16 = 11;
/// What an RST leaves in `CLOSE_WAIT` (Linux `net/ipv4/tcp_input.c`, `tcp_reset`, 6.18).
const EPIPE: i32 = 32;

/// The end of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub at: Timestamp,
    /// Whose: what the process sends, or what it receives.
    pub way: Way,
    pub manner: EndManner,
}

/// What is known of both ends.
#[derive(Debug, Default)]
pub(super) struct SocketEnds {
    /// In their order: at most one each way.
    ends: Vec<End>,
    over: Option<Timestamp>,
}

impl SocketEnds {
    /// Takes the next change of state. One that is told twice tells nothing new.
    pub(super) fn changed(&mut self, at: Timestamp, life: &Life) {
        for way in [life.before, life.after].into_iter().flat_map(finished) {
            self.note(at, *way, EndManner::Fin);
        }
        if life.after != CLOSE {
            return;
        }
        match (life.error, life.before) {
            (EPIPE, _) => self.note(at, Way::Received, EndManner::Fin),
            (0, ESTABLISHED | CLOSE_WAIT) => self.note(at, Way::Sent, EndManner::Reset),
            (0, _) => {}
            _ => self.note(at, Way::Received, EndManner::Reset),
        }
        self.over = Some(at);
    }

    /// Since when the socket is closed, if it is.
    pub(super) const fn over(&self) -> Option<Timestamp> {
        self.over
    }

    /// Whether the process's own direction has ended, or both have.
    pub(super) fn has_own(&self) -> bool {
        self.over.is_some() || self.ends.iter().any(|end| end.way == Way::Sent)
    }

    /// All ends, when the connection is given up: the process's own is `own`, unless its socket said another before, or was reset. A FIN is not
    /// taken for granted where the socket was closed without one.
    pub(super) fn given_up(mut self, own: End) -> Vec<End> {
        let is_reset = self.ends.iter().any(|end| end.manner == EndManner::Reset);
        let is_granted = self.over.is_none() || own.manner != EndManner::Fin;
        if is_granted && !is_reset {
            self.note(own.at, own.way, own.manner);
        }
        self.ends
    }

    fn note(&mut self, at: Timestamp, way: Way, manner: EndManner) {
        if self.ends.iter().all(|end| end.way != way) {
            self.ends.push(End { at, way, manner });
        }
    }
}

/// The directions that a FIN has ended by the time that a socket has this state.
const fn finished(state: u16) -> &'static [Way] {
    match state {
        FIN_WAIT1 | FIN_WAIT2 => &[Way::Sent],
        CLOSE_WAIT => &[Way::Received],
        CLOSING => &[Way::Sent, Way::Received],
        LAST_ACK => &[Way::Received, Way::Sent],
        _ => &[],
    }
}
