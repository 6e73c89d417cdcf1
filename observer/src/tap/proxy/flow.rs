//! Copies one direction of a connection, and passes on its end.
//!
//! ```text
//!       end read, reported      a wait, only for upstream's end           passed on
//!   Open ───────────────► Withheld ─────────────────────────► Ending ───────────► FlowEnd
//!     └── write fails ───────────────────────────────────────────────────────────► FlowEnd::SinkGone
//! ```

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use observer_core::http::Direction;

use super::client_stall::ClientStall;
use super::side::{PeerGone, Side};
use super::tee::Tee;
use crate::intake::EndManner;

/// Copies from a source to a sink, then passes on the end of the source.
pub(super) struct Flow {
    direction: Direction,
    state: State,
    /// Number of bytes at the front of the source's plaintext that the tee already has, but that did not fit into the sink yet.
    shown: usize,
    client_stall: ClientStall,
}

enum State {
    Open,
    Withheld(EndManner, Withholding),
    Ending(EndManner),
}

/// Resolves when a withheld end may be passed on.
pub(super) type Withholding = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowEnd {
    /// The source's end was passed on; the other direction continues.
    HalfClosed,
    /// The source was reset, so the sink must be reset too.
    Reset,
    /// The source broke TLS, so both sides must be closed.
    Broken,
    /// The sink takes nothing more. Earlier bytes may still be readable from it.
    SinkGone,
}

enum Supply {
    Dry,
    SinkFull,
    Ended(EndManner),
}

impl Flow {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, state: State::Open, shown: 0, client_stall: ClientStall::default() }
    }

    /// Moves as much as possible now. `withhold` is called once, after the end was read and everything before it was written.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        source: &mut Side,
        sink: &mut Side,
        tee: &mut Tee,
        withhold: impl FnOnce(EndManner) -> Option<Withholding>,
    ) -> Poll<FlowEnd> {
        if matches!(self.state, State::Open) {
            match ready!(self.poll_copy(context, source, sink, tee)) {
                Ok(manner) => {
                    tee.ended(self.direction, manner);
                    self.state = match withhold(manner) {
                        Some(withholding) => State::Withheld(manner, withholding),
                        None => State::Ending(manner),
                    };
                }
                Err(PeerGone) => return Poll::Ready(FlowEnd::SinkGone),
            }
        }
        if let State::Withheld(manner, withholding) = &mut self.state {
            ready!(withholding.as_mut().poll(context));
            self.state = State::Ending(*manner);
        }
        match self.state {
            State::Ending(EndManner::Reset) => Poll::Ready(FlowEnd::Reset),
            State::Ending(EndManner::BrokenTls | EndManner::ByWatchtap) => Poll::Ready(FlowEnd::Broken),
            State::Ending(manner @ (EndManner::CloseNotify | EndManner::Fin)) => {
                sink.poll_shutdown(context, manner).map(|()| FlowEnd::HalfClosed)
            }
            State::Open | State::Withheld(..) => Poll::Pending,
        }
    }

    /// Reports that the tap ends this direction, unless the source's own end was reported.
    pub(super) fn cut(&self, tee: &mut Tee) {
        if matches!(self.state, State::Open) {
            tee.ended(self.direction, EndManner::ByWatchtap);
        }
    }

    /// Copies until the source has ended and everything is written.
    fn poll_copy(
        &mut self,
        context: &mut Context<'_>,
        source: &mut Side,
        sink: &mut Side,
        tee: &mut Tee,
    ) -> Poll<Result<EndManner, PeerGone>> {
        loop {
            let supply = self.fill(context, source, sink, tee);
            let before = sink.written();
            match sink.poll_flush(context) {
                Poll::Pending => {
                    if self.direction == Direction::Response {
                        self.client_stall.wait(context, tee, sink.written() != before);
                    }
                    return Poll::Pending;
                }
                Poll::Ready(flushed) => {
                    self.client_stall.relax(tee);
                    flushed?;
                }
            }
            match supply {
                Supply::Dry => return Poll::Pending,
                Supply::SinkFull => {}
                Supply::Ended(manner) => return Poll::Ready(Ok(manner)),
            }
        }
    }

    /// Seals the source's plaintext record by record, so that one flush writes it all.
    fn fill(&mut self, context: &mut Context<'_>, source: &mut Side, sink: &mut Side, tee: &mut Tee) -> Supply {
        loop {
            match source.poll_readable(context) {
                Poll::Pending => return Supply::Dry,
                Poll::Ready(Err(manner)) => return Supply::Ended(manner),
                Poll::Ready(Ok(())) => {}
            }
            let plaintext = source.plaintext();
            if let Some((_, fresh @ [_, ..])) = plaintext.split_at_checked(self.shown) {
                tee.bytes(self.direction, fresh);
                self.shown = plaintext.len();
            }
            let sealed = sink.seal(plaintext);
            source.consume(sealed);
            self.shown -= sealed;
            if self.shown > 0 {
                return Supply::SinkFull;
            }
        }
    }
}
