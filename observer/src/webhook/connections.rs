//! The open connections of the webhook: HTTP/1.1 in TLS. The webhook client of the API server speaks nothing else
//! (kubernetes/apiserver `pkg/util/webhook/client.go`), and keeps connections open.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::admissions::Admissions;
use super::numbers::Closed;
use super::timed_writes::TimedWrites;

/// Maximum number of open connections. Each takes up to some 100 kB.
pub(super) const MOST_CONNECTIONS: usize = 128;

/// How many of them are kept only because they served a review. The others are free for clients that connect.
pub(super) const MOST_KEPT: usize = MOST_CONNECTIONS / 2;

/// Time limit for the handshake.
pub(super) const HANDSHAKE_LIMIT: Duration = Duration::from_secs(5);

/// Time limit for the head of a request, which also ends idle connections. The API server's client ends them after 90 s
/// (kubernetes/apimachinery `pkg/util/net/http.go`, `SetOldTransportDefaults`). It has to be the first one: Go does not repeat a POST
/// that crosses the end of its connection (`net/http/transport.go`, `shouldRetryRequest`), so a pod would get no sidecar.
pub(super) const IDLE_LIMIT: Duration = Duration::from_secs(150);

/// Time limit for an answer to be sent.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// How long a connection that is to close may finish its request. If there are too many connections, the next one waits for that.
const CLOSE_LIMIT: Duration = Duration::from_millis(500);

/// The part of an answer that the kernel holds for a client, in bytes. Linux doubles it.
const SENT_BYTES: usize = 64 << 10;

/// Maximum size of the head of a request, in bytes.
pub(super) const HEAD_BYTES: usize = 16 << 10;

/// Maximum size of the part of a body that is read at once, in bytes.
const PART_BYTES: usize = 64 << 10;

/// Maximum number of header fields.
pub(super) const MOST_FIELDS: usize = 64;

/// The connections, the oldest one first.
#[derive(Debug)]
pub(super) struct Connections {
    tls: Arc<ServerConfig>,
    admissions: Arc<Admissions>,
    tasks: JoinSet<()>,
    oldest_first: VecDeque<Open>,
}

/// A connection that closes after its current request when this is dropped.
#[derive(Debug)]
struct Open {
    close: oneshot::Sender<()>,
    /// Whether it has served a review.
    has_served: Arc<AtomicBool>,
}

impl Connections {
    pub(super) fn new(tls: Arc<ServerConfig>, admissions: Arc<Admissions>) -> Self {
        Self { tls, admissions, tasks: JoinSet::new(), oldest_first: VecDeque::new() }
    }

    /// Waits until another connection has room. If there are too many, one closes: its client can connect again, and clients that only
    /// hold connections keep no other from being served.
    pub(super) async fn have_room(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.oldest_first.retain(|open| !open.close.is_closed());
        while self.tasks.len() >= MOST_CONNECTIONS {
            if self.oldest_first.len() >= MOST_CONNECTIONS {
                self.admissions.numbers.note_closed(Closed::NoRoom);
                let served: Vec<bool> = self.oldest_first.iter().map(Open::has_served).collect();
                self.oldest_first.remove(to_close(&served));
            }
            self.tasks.join_next().await;
            self.oldest_first.retain(|open| !open.close.is_closed());
        }
    }

    pub(super) fn add(&mut self, tcp: TcpStream) {
        let (close, closed) = oneshot::channel();
        let has_served = Arc::new(AtomicBool::new(false));
        self.oldest_first.push_back(Open { close, has_served: Arc::clone(&has_served) });
        let tls = TlsAcceptor::from(Arc::clone(&self.tls));
        self.tasks.spawn(serve(tcp, tls, Arc::clone(&self.admissions), has_served, closed));
    }

    /// Closes all connections after their current requests.
    pub(super) async fn close(mut self) {
        self.oldest_first.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl Open {
    fn has_served(&self) -> bool {
        self.has_served.load(Ordering::Relaxed)
    }
}

/// The place of the connection that closes. `served` has for each, the oldest one first, whether it has served a review. Those of API
/// servers have, and such a server may be about to use it again. Strangers can send reviews, too, so only some are kept for that reason.
fn to_close(served: &[bool]) -> usize {
    let kept = served.iter().filter(|has_served| **has_served).count();
    served.iter().position(|has_served| *has_served == (kept > MOST_KEPT)).unwrap_or_default()
}

/// Serves a connection until it ends, or until `closed`.
async fn serve(
    tcp: TcpStream,
    tls: TlsAcceptor,
    admissions: Arc<Admissions>,
    has_served: Arc<AtomicBool>,
    mut closed: oneshot::Receiver<()>,
) {
    if let Err(error) = tcp.set_nodelay(true).and_then(|()| SockRef::from(&tcp).set_send_buffer_size(SENT_BYTES)) {
        tracing::debug!("answers may wait for acknowledgements, or take more memory: {error}");
    }
    // It keeps the socket if it fails, so a connection is counted before its client can notice the end.
    let mut handshake = tls.accept(tcp).into_fallible();
    let stream = tokio::select! {
        stream = timeout(HANDSHAKE_LIMIT, &mut handshake) => stream,
        _dropped = &mut closed => return,
    };
    let Ok(Ok(stream)) = stream else {
        admissions.numbers.note_closed(Closed::Handshake);
        return;
    };
    let service = service_fn(move |request| {
        let (admissions, has_served) = (Arc::clone(&admissions), Arc::clone(&has_served));
        async move {
            let response = admissions.answer(request).await?;
            if response.status().is_success() {
                has_served.store(true, Ordering::Relaxed);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_LIMIT)
        .max_buf_size(PART_BYTES)
        .max_header_size(HEAD_BYTES)
        .max_headers(MOST_FIELDS)
        .serve_connection(TokioIo::new(TimedWrites::new(stream, ANSWER_LIMIT)), service);
    let mut served = pin!(served);
    // The client notices how the connection ends; watchtap has nothing to do about it.
    tokio::select! {
        _ended = served.as_mut() => {}
        _dropped = closed => {
            served.as_mut().graceful_shutdown();
            let _ended = timeout(CLOSE_LIMIT, served).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_without_a_review_close_first_and_all_close_in_the_end() {
        assert_eq!(to_close(&[true, false, false]), 1);
        assert_eq!(to_close(&[false, true, false]), 0);
        let kept = |count: usize| [vec![false], vec![true; count], vec![false]].concat();
        assert_eq!(to_close(&kept(MOST_KEPT)), 0);
        assert_eq!(to_close(&kept(MOST_KEPT + 1)), 1, "the oldest one that has served");
        assert_eq!(to_close(&[true; MOST_CONNECTIONS]), 0);
    }
}
