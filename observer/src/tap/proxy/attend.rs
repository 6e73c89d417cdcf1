//! The task of one client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use observer_core::http::{FrameWalker, Protocol, Start};
use observer_core::observation::Process;
use tokio::time::Instant;

use super::establish::{Established, Failure, establish};
use super::farewell::Farewell;
use super::port::Client;
use super::probe::Spare;
use super::shared::Shared;
use super::splice::Splice;
use super::tee::Tee;
use super::{ListenerState, UpstreamError};
use crate::intake::ConnectionInfo;

/// How long the process of a client is waited for beyond the time that its handshakes took, before its first byte is passed on: usually it has been
/// found by then. What comes later would make two clients of one.
const PROCESS_WITHIN: Duration = Duration::from_millis(200);

/// Serves one client from its first byte to its last.
pub(super) async fn attend(shared: Arc<Shared>, client: Client, spare: Option<Spare>, mut farewell: Farewell) {
    let deadline = Instant::now() + shared.handshake_limit;
    let Client { tcp, address, descriptors: _until_the_end } = client;
    let process = shared.intake.as_ref().map(|intake| intake.ask_for_process(address, shared.address)).unwrap_or_default();
    // Boxed, since it is several times larger than what stays for the life of the connection.
    let establishing = Box::pin(establish(&shared, tcp, spare, deadline));
    let established = tokio::select! {
        established = establishing => established,
        () = farewell.said() => return,
    };
    match established {
        Ok(established) => {
            shared.counters.established.add(1);
            let process = process.answer(PROCESS_WITHIN).await;
            let tee = tee(&shared, &established, address, process);
            Splice::new(Arc::clone(&shared), established.downstream, established.upstream, tee).run(farewell).await;
            shared.counters.over.add(1);
        }
        Err(Failure::Elsewhere) => shared.counters.asked_elsewhere.add(1),
        Err(Failure::Client) => shared.counters.client_handshakes_failed.add(1),
        Err(Failure::Held(client)) => {
            shared.reset_instead_of_refused(1);
            drop(client);
        }
        Err(Failure::Upstream(error, client)) => {
            fail(&shared, error).await;
            drop(client);
        }
    }
}

fn tee(shared: &Shared, established: &Established, client: SocketAddr, process: Option<Process>) -> Tee {
    let (listener, upstream, protocol) = (shared.address, established.upstream_address, established.protocol);
    let info = ConnectionInfo { client, listener, upstream, process, protocol, start: Start::Beginning };
    match (shared.intake.as_ref().and_then(|intake| intake.register(shared.clock.now(), info)), protocol) {
        (Some(feed), _) => Tee::Observed(feed, shared.clock),
        (None, Some(Protocol::Http2)) => Tee::Framed(FrameWalker::of_responses()),
        (None, Some(Protocol::Http1) | None) => Tee::Blind,
    }
}

/// Counts and tells the failure. When it may mean that upstream refuses, that is found out before the client is reset, so that a client
/// that comes back at once is refused.
async fn fail(shared: &Shared, error: UpstreamError) {
    let is_refusal = matches!(error, UpstreamError::Refused { .. });
    let may_refuse = match error {
        UpstreamError::Refused { .. } => true,
        UpstreamError::Closed { .. } | UpstreamError::ForwardProxy { .. } => error.is_closed(),
        UpstreamError::Unreachable { .. }
        | UpstreamError::Unresolved { .. }
        | UpstreamError::TimedOut { .. }
        | UpstreamError::NoDescriptor { .. }
        | UpstreamError::Certificate { .. }
        | UpstreamError::Tls { .. } => false,
    };
    shared.upstream_failed(error);
    if may_refuse {
        let question = shared.gate.ask();
        shared.gate.answer(question).await;
        if is_refusal || shared.gate.state() == ListenerState::Held {
            shared.reset_instead_of_refused(1);
        }
    }
}
