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
//!   any state ─▶ CLOSE with an error: the other side's RST, or a path that died
//!   ESTABLISHED or CLOSE_WAIT ─▶ CLOSE without one: the process's own RST (it left bytes unread, or set SO_LINGER to 0)
//! ```
//!
//! A socket that waits in `TIME_WAIT` is another structure of the kernel, so this one goes to `CLOSE` before (Linux `net/ipv4/tcp_minisocks.c`,
//! `tcp_time_wait`). From `FIN_WAIT2` it may do so before the other side has ended its direction, so nothing is said of that. Whether TLS was ended
//! before (`close_notify`) cannot be seen here.

use observer_core::time::Timestamp;
use observer_ebpf::Life;

use super::followed::Way;
use crate::intake::EndManner;

/// Linux `include/net/tcp_states.h`.
const ESTABLISHED: u16 = 1;
const FIN_WAIT1: u16 = 4;
pub(super) const CLOSE: u16 = 7;
const CLOSE_WAIT: u16 = 8;
const LAST_ACK: u16 = 9;
const CLOSING: u16 = 11;

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
    /// Takes the next change of state.
    pub(super) fn changed(&mut self, at: Timestamp, life: &Life) {
        let is_error = life.error != 0;
        match (life.before, life.after) {
            (ESTABLISHED, FIN_WAIT1) | (CLOSE_WAIT, LAST_ACK) => self.note(at, Way::Sent, EndManner::Fin),
            (ESTABLISHED, CLOSE_WAIT) | (_, CLOSING) => self.note(at, Way::Received, EndManner::Fin),
            (_, CLOSE) if is_error => self.note(at, Way::Received, EndManner::Reset),
            (ESTABLISHED | CLOSE_WAIT, CLOSE) => self.note(at, Way::Sent, EndManner::Reset),
            _ => {}
        }
        if life.after == CLOSE {
            self.over = Some(at);
        }
    }

    /// Since when the socket is closed, if it is.
    pub(super) const fn over(&self) -> Option<Timestamp> {
        self.over
    }

    /// Whether the process's own direction has ended, or both have.
    pub(super) fn has_own(&self) -> bool {
        self.over.is_some() || self.ends.iter().any(|end| end.way == Way::Sent)
    }

    /// All ends, when the connection is given up: the process's own is `own`, unless its socket said another before, or was reset.
    pub(super) fn given_up(mut self, own: End) -> Vec<End> {
        if self.ends.iter().all(|end| end.manner != EndManner::Reset) {
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
