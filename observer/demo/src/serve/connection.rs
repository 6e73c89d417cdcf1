//! One connection of a client: TLS, and HTTP/1.1 or HTTP/2 by ALPN.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::respond::Responder;

/// Time limit of the TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Maximum number of concurrent streams of one connection, as in Go's server.
const MOST_STREAMS: u32 = 250;

/// Serves a connection until it is closed, or until `stop` becomes true because the server drains. After that, open requests are
/// finished, and new ones are refused.
pub(super) async fn serve(responder: Arc<Responder>, tls: TlsAcceptor, tcp: TcpStream, mut stop: watch::Receiver<bool>) {
    // A socket without this option is only slower.
    let _outcome = tcp.set_nodelay(true);
    let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(tcp)).await else { return };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let service = service_fn(move |request| {
        let responder = Arc::clone(&responder);
        async move { Ok::<_, Infallible>(responder.respond(request).await) }
    });
    let io = TokioIo::new(stream);
    let stopped = async {
        // The sender is dropped with the server, which also ends the connection.
        let _outcome = stop.wait_for(|stop| *stop).await;
    };
    // Errors are ignored: the client notices that the connection was closed.
    if is_http2 {
        let builder =
            http2::Builder::new(TokioExecutor::new()).max_concurrent_streams(MOST_STREAMS).timer(TokioTimer::new()).to_owned();
        let mut connection = pin!(builder.serve_connection(io, service));
        tokio::select! {
            _ended = connection.as_mut() => return,
            () = stopped => connection.as_mut().graceful_shutdown(),
        }
        let _ended = connection.await;
    } else {
        let builder = http1::Builder::new().timer(TokioTimer::new()).to_owned();
        let mut connection = pin!(builder.serve_connection(io, service));
        tokio::select! {
            _ended = connection.as_mut() => return,
            () = stopped => connection.as_mut().graceful_shutdown(),
        }
        let _ended = connection.await;
    }
}
