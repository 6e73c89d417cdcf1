//! The open connections of the server: at most one request each, and few at a time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::answering::Answering;
use crate::memory_budget::METRICS_CONNECTIONS;

/// Maximum number of open connections. The proxy leaves 32 descriptors or more for everything but its clients.
const MOST: usize = METRICS_CONNECTIONS;

/// Time limit for the head of a request.
const HEAD: Duration = Duration::from_secs(5);

/// Time limit of a connection, with the time to read the response.
const LIFE: Duration = Duration::from_secs(30);

/// Maximum size of the head of a request, in bytes.
const HEAD_BYTES: usize = 16 << 10;

/// Maximum number of header fields.
const MOST_FIELDS: usize = 64;

/// The connections, the oldest one first.
#[derive(Debug, Default)]
pub(super) struct Connections {
    tasks: JoinSet<()>,
    oldest_first: VecDeque<AbortHandle>,
}

impl Connections {
    /// Whether the next connection closes the oldest one.
    pub(super) fn are_all_in_use(&mut self) -> bool {
        self.oldest_first.retain(|task| !task.is_finished());
        self.oldest_first.len() >= MOST
    }

    /// Serves a connection. If there are too many, the oldest is closed: a scrape takes milliseconds, so one that is much older
    /// is not reading, or not asking.
    pub(super) fn add(&mut self, tcp: TcpStream, answers: Arc<impl Answering>) {
        while self.tasks.try_join_next().is_some() {}
        if self.are_all_in_use()
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            oldest.abort();
        }
        self.oldest_first.push_back(self.tasks.spawn(serve(tcp, answers)));
    }
}

/// Answers one request. Connections are not reused, so none of them is idle.
async fn serve(tcp: TcpStream, answers: Arc<impl Answering>) {
    let service = service_fn(move |request| {
        let answers = Arc::clone(&answers);
        async move { Ok::<_, Infallible>(answers.answer(&request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .keep_alive(false)
        .max_buf_size(HEAD_BYTES)
        .max_headers(MOST_FIELDS)
        .serve_connection(TokioIo::new(tcp), service);
    // The client notices how the connection ends; watchtap has nothing to do about it.
    let _ended = timeout(LIFE, served).await;
}
