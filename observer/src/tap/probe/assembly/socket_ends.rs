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
//!   any state ─▶ CLOSE with an error: the other side's RST, or a dead path; EPIPE: the other side's RST after its FIN
//!   ESTABLISHED or CLOSE_WAIT ─▶ CLOSE without an error: the process's own RST (it left bytes unread, or set SO_LINGER to 0)
//! ```
//!
//! In `TIME_WAIT`, the kernel replaces the socket by another structure, and the socket itself goes to `CLOSE` (Linux
//! `net/ipv4/tcp_minisocks.c`, `tcp_time_wait`). From `FIN_WAIT2`, the socket may go to `CLOSE` before the other side has ended its
//! direction. In that case the end of this direction stays unknown. `close_notify` cannot be seen here, so a FIN may come with or
//! without an end of TLS.
//!
//! A state shows which FINs have passed, so the next change reveals a FIN that was not reported. When a socket becomes known, its
//! state is reported with 0 as the previous state. If this state is `CLOSE` and the error was already read (which clears it), the
//! cause is unknown. Then no end is reported.

use observer_core::time::Timestamp;
use observer_ebpf::LifetimeEvent;

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
/// The error that an RST leaves in `CLOSE_WAIT` (Linux `net/ipv4/tcp_input.c`, `tcp_reset`, 6.18).
const EPIPE: i32 = 32;

/// The end of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub at: Timestamp,
    /// The direction: the bytes that the process sends, or those that it receives.
    pub way: Way,
    pub manner: EndManner,
}

/// The known ends of both directions.
#[derive(Debug, Default)]
pub(super) struct SocketEnds {
    /// In order: at most one per direction.
    ends: Vec<End>,
    over: Option<Timestamp>,
}

impl SocketEnds {
    /// Takes the next change of state. A repeated one has no effect.
    pub(super) fn changed(&mut self, at: Timestamp, event: &LifetimeEvent) {
        for way in [event.before, event.after].into_iter().flat_map(finished) {
            self.note(at, *way, EndManner::Fin);
        }
        if event.after != CLOSE {
            return;
        }
        match (event.error, event.before) {
            (EPIPE, _) => self.note(at, Way::Received, EndManner::Fin),
            (0, ESTABLISHED | CLOSE_WAIT) => self.note(at, Way::Sent, EndManner::Reset),
            (0, _) => {}
            _ => self.note(at, Way::Received, EndManner::Reset),
        }
        self.over = Some(at);
    }

    /// When the socket was closed, if it was.
    pub(super) const fn over(&self) -> Option<Timestamp> {
        self.over
    }

    /// Whether the process's own direction has ended, or the socket is closed.
    pub(super) fn has_own(&self) -> bool {
        self.over.is_some() || self.ends.iter().any(|end| end.way == Way::Sent)
    }

    /// All ends, when the connection is given up. The end of the process's own direction is `own`, unless the socket reported
    /// another end before or was reset. A FIN is not assumed if the socket was closed without a FIN.
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

/// The directions that a FIN has ended once a socket has this state.
const fn finished(state: u16) -> &'static [Way] {
    match state {
        FIN_WAIT1 | FIN_WAIT2 => &[Way::Sent],
        CLOSE_WAIT => &[Way::Received],
        CLOSING => &[Way::Sent, Way::Received],
        LAST_ACK => &[Way::Received, Way::Sent],
        _ => &[],
    }
}
