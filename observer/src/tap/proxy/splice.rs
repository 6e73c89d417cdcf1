//! Copies both directions of one connection in one task.
//!
//! The end of a side is passed on in the same manner: `close_notify` and FIN as `close_notify` and FIN, a bare FIN as a bare FIN,
//! RST as RST. Each direction ends by itself, so half-closed connections work. A fatal alert and bytes that are not TLS cannot be
//! passed on, since an alert of the proxy would describe a different TLS session. They end the other side with a bare FIN.
//!
//! If upstream ends a connection that the client has not ended first, the API server may be going away. The client will reconnect
//! at once, and must then see the same as without watchtap. So the end is withheld until it is known whether upstream refuses, for
//! at most [`super::gate::HOLD_BACK`].

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use observer_core::http::Direction;

use super::flow::{Flow, FlowEnd, Withholding};
use super::shared::Shared;
use super::side::Side;
use super::socket;
use super::tee::Tee;
use crate::intake::EndManner;

/// Copies until the connection is over.
pub(super) struct Splice {
    shared: Arc<Shared>,
    downstream: Side,
    upstream: Side,
    request: Flow,
    request_end: Option<FlowEnd>,
    response: Flow,
    response_end: Option<FlowEnd>,
    tee: Tee,
    goaway_told: bool,
}

/// How both sockets must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Gracefully,
    ByReset,
    /// The proxy ends the connection, although neither side did.
    ByUs,
}

impl Splice {
    pub(super) fn new(shared: Arc<Shared>, downstream: Side, upstream: Side, tee: Tee) -> Self {
        Self {
            shared,
            downstream,
            upstream,
            request: Flow::new(Direction::Request),
            request_end: None,
            response: Flow::new(Direction::Response),
            response_end: None,
            tee,
            goaway_told: false,
        }
    }

    /// Copies until both directions have ended or `close_signal` resolves, and closes both sides accordingly.
    pub(super) async fn run(mut self, close_signal: impl Future<Output = ()>) {
        let closing = {
            let mut close_signal = pin!(close_signal);
            std::future::poll_fn(|context| match self.poll(context) {
                Poll::Ready(closing) => Poll::Ready(closing),
                Poll::Pending => close_signal.as_mut().poll(context).map(|()| Closing::ByUs),
            })
            .await
        };
        if closing == Closing::ByUs {
            // Reports the end of the request first: a response that ends before its request counts as a sign that the server
            // restarts.
            self.request.cut(&mut self.tee);
            self.response.cut(&mut self.tee);
            std::future::poll_fn(|context| self.poll_close(context)).await;
        }
        if closing != Closing::ByReset {
            socket::close_gracefully(self.downstream.tcp());
            socket::close_gracefully(self.upstream.tcp());
        }
        self.tee.closed();
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Closing> {
        if self.request_end.is_none() {
            self.request_end = ended(self.request.poll(context, &mut self.downstream, &mut self.upstream, &mut self.tee, |_| None));
        }
        if self.response_end.is_none() {
            let (shared, client_ended) = (&self.shared, self.request_end == Some(FlowEnd::HalfClosed));
            let withhold = |manner| withhold(shared, client_ended, manner);
            self.response_end =
                ended(self.response.poll(context, &mut self.upstream, &mut self.downstream, &mut self.tee, withhold));
            self.report_goaway();
        }
        match closing(self.request_end, self.response_end) {
            Some(closing) => Poll::Ready(closing),
            None => Poll::Pending,
        }
    }

    /// Writes everything already read, then `close_notify` and FIN, to both sides.
    fn poll_close(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let downstream = self.downstream.poll_shutdown(context, EndManner::CloseNotify);
        ready!(self.upstream.poll_shutdown(context, EndManner::CloseNotify));
        downstream
    }

    fn report_goaway(&mut self) {
        if !self.goaway_told && self.tee.saw_goaway() {
            self.goaway_told = true;
            self.shared.gate.ask();
        }
    }
}

fn ended(poll: Poll<FlowEnd>) -> Option<FlowEnd> {
    match poll {
        Poll::Ready(end) => Some(end),
        Poll::Pending => None,
    }
}

fn withhold(shared: &Arc<Shared>, client_ended: bool, manner: EndManner) -> Option<Withholding> {
    let is_answer_to_client = client_ended && matches!(manner, EndManner::CloseNotify | EndManner::Fin);
    if is_answer_to_client {
        return None;
    }
    let question = shared.gate.ask();
    let shared = Arc::clone(shared);
    Some(Box::pin(async move { shared.gate.answer(question).await }))
}

/// Returns how to close both sockets, or `None` if the connection continues. An upstream that takes nothing more may have sent an
/// early error response, which the client must still get. If the client takes nothing more, upstream's bytes have no recipient.
fn closing(request: Option<FlowEnd>, response: Option<FlowEnd>) -> Option<Closing> {
    match (request, response) {
        (Some(FlowEnd::Reset), _)
        | (_, Some(FlowEnd::Reset | FlowEnd::SinkGone))
        | (Some(FlowEnd::SinkGone), Some(FlowEnd::HalfClosed)) => Some(Closing::ByReset),
        (Some(FlowEnd::Broken), _) | (_, Some(FlowEnd::Broken)) | (Some(FlowEnd::HalfClosed), Some(FlowEnd::HalfClosed)) => {
            Some(Closing::Gracefully)
        }
        (None | Some(FlowEnd::SinkGone | FlowEnd::HalfClosed), None) | (None, Some(FlowEnd::HalfClosed)) => None,
    }
}
