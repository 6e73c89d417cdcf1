//! The task that serves one client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use observer_core::http::{FrameWalker, Protocol, Start};
use tokio::time::Instant;

use super::ListenerState;
use super::close_signal::CloseSignal;
use super::establish::{Established, Failure, establish};
use super::hellos::Hello;
use super::port::Client;
use super::probe::Spare;
use super::shared::Shared;
use super::splice::Splice;
use super::tee::Tee;
use crate::api_server::UpstreamError;
use crate::client_process::Inquiry;
use crate::intake::{ConnectionFeed, ConnectionInfo, Intake, PendingProcess};
use crate::tap::Clock;

/// How long the lookup of a client's process may continue after the handshakes; usually it has finished by then. The client does
/// not wait for it, but observations may be delayed by this much. Without the process, one client could count as two.
const PROCESS_WITHIN: Duration = Duration::from_secs(2);

/// Serves one client from the first byte to the last.
pub(super) async fn serve_connection(
    shared: Arc<Shared>,
    client: Client,
    hello: Hello,
    spare: Option<Spare>,
    mut close_signal: CloseSignal,
) {
    let deadline = Instant::now() + shared.handshake_limit;
    let Client { tcp, address, descriptors: _until_the_end } = client;
    let process = shared.intake.as_ref().map(|intake| intake.ask_for_process(address, shared.address)).unwrap_or_default();
    // Boxed, since it is several times larger than the state that lives as long as the connection.
    let establishing = Box::pin(establish(&shared, tcp, hello, spare, deadline));
    let established = tokio::select! {
        established = establishing => established,
        () = close_signal.received() => return,
    };
    match established {
        Ok(established) => {
            shared.counters.established.add(1);
            let tee = tee(&shared, &established, address, process);
            let Established { downstream, upstream, connection_tls, protocol, .. } = established;
            // When a certificate is renewed, client-go closes the connections in its pool, which use HTTP/2. Upgraded connections
            // are not in the pool.
            let is_renewed = shared.renewal.is_some() && protocol == Some(Protocol::Http2);
            let end = async {
                tokio::select! {
                    () = close_signal.received() => {}
                    () = shared.connection_tls.outdated(&connection_tls), if is_renewed => {}
                }
            };
            Splice::new(Arc::clone(&shared), downstream, upstream, tee).run(end).await;
            shared.counters.over.add(1);
        }
        Err(Failure::Elsewhere) => shared.counters.asked_elsewhere.add(1),
        Err(Failure::Client) => shared.counters.client_handshakes_failed.add(1),
        Err(Failure::Certificate) => shared.certificate_refused(),
        Err(Failure::NoCertificate) => shared.certificate_missing(),
        Err(Failure::Crowded) => shared.counters.hellos_given_up.add(1),
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

fn tee(shared: &Shared, established: &Established, client: SocketAddr, process: Inquiry) -> Tee {
    let (upstream, server, protocol) = (Some(shared.upstream_id), established.upstream_address, established.protocol);
    let container_name = shared.container_name.clone();
    let info = ConnectionInfo { client, upstream, server, process: None, container_name, protocol, start: Start::Beginning };
    match (shared.intake.as_ref().and_then(|intake| register(intake, shared.clock, info, process)), protocol) {
        (Some(feed), _) => Tee::Observed(feed, shared.clock),
        (None, Some(Protocol::Http2)) => Tee::Framed(FrameWalker::of_responses()),
        (None, Some(Protocol::Http1) | None) => Tee::Blind,
    }
}

/// Begins to observe. If the client's process is still unknown, a separate task reports it later.
fn register(intake: &Intake, clock: Clock, info: ConnectionInfo, process: Inquiry) -> Option<ConnectionFeed> {
    match process.answered() {
        Ok(process) => intake.register(clock.now(), ConnectionInfo { process, ..info }),
        Err(inquiry) => {
            let (feed, pending) = intake.register_before_process(clock.now(), info)?;
            tokio::spawn(report_process(inquiry, pending));
            Some(feed)
        }
    }
}

async fn report_process(inquiry: Inquiry, pending: PendingProcess) {
    if let Some(process) = inquiry.answer(PROCESS_WITHIN).await {
        pending.found(process);
    }
}

/// Counts and reports the failure. If upstream may be refusing connections, also waits for the result of a dial, and the caller
/// resets the client after that. If the dial was refused, the listener refuses, too, by then. So a client that reconnects at once
/// is refused.
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
        | UpstreamError::CertificateTime { .. }
        | UpstreamError::Tls { .. } => false,
    };
    shared.upstream_failed(error);
    if may_refuse {
        let question = shared.gate.ask();
        shared.gate.answer(question).await;
        if is_refusal || shared.gate.state() == ListenerState::Refusing {
            shared.reset_instead_of_refused(1);
        }
    }
}
