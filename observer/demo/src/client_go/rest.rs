//! The layer below reflectors, which repeats requests before it reports a failure (kubernetes/client-go `rest/request.go`,
//! `rest/with_retry.go`).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use tokio::time::sleep;

use super::answer::{Failure, of_answer};
use super::door::Lost;
use super::process::Process;
use super::release::ClientGo;
use crate::clock::Clock;

/// Maximum number of repetitions of one request.
const MOST_REPEATS: u32 = 10;

/// The pause after a broken connection, in seconds.
const AFTER_BREAK: u32 = 1;

/// Maximum size of a body, in bytes. A longer body counts as a failure.
const LONGEST_BODY: usize = 64 << 20;

/// The requests of one process.
#[derive(Clone)]
pub(super) struct Rest {
    pub(super) process: Arc<Process>,
    pub(super) client_go: ClientGo,
    pub(super) clock: Clock,
}

/// The result of requesting a watch.
pub(super) enum Asked {
    Open(Response<Incoming>),
    /// The connection broke: the reflector gets a closed watch that lasted this long.
    Closed {
        lasted: Duration,
    },
    Failed(Failure),
}

impl Rest {
    /// Sends a list and returns its body. Repeats the request after answers with `Retry-After` and after broken connections.
    pub(super) async fn list(&self, path: &str) -> Result<Bytes, Failure> {
        let mut repeats = 0;
        loop {
            let (failure, again_after) = match self.process.get(path, self.client_go.accept()).await {
                Ok(response) => {
                    let (status, again_after) = (response.status(), retry_after(&response));
                    let body = Limited::new(response.into_body(), LONGEST_BODY).collect().await;
                    match body {
                        Ok(body) if status == StatusCode::OK => return Ok(body.to_bytes()),
                        Ok(body) => (of_answer(status.as_u16(), &body.to_bytes()), again_after),
                        Err(_broken) => (Failure::Other, None),
                    }
                }
                Err(Lost::Refused) => return Err(Failure::Refused),
                Err(Lost::Broken) => (Failure::Other, Some(AFTER_BREAK)),
            };
            let Some(seconds) = again_after.filter(|_| repeats < MOST_REPEATS) else { return Err(failure) };
            repeats += 1;
            self.pause(seconds).await;
        }
    }

    /// Opens a watch. From 1.22 on, client-go repeats the request like that of a list.
    pub(super) async fn watch(&self, path: &str) -> Asked {
        let began = self.clock.now();
        let mut repeats = 0;
        loop {
            let (failed, again_after) = match self.process.get(path, self.client_go.accept()).await {
                Ok(response) if response.status() == StatusCode::OK => return Asked::Open(response),
                Ok(response) => {
                    let (status, again_after) = (response.status().as_u16(), retry_after(&response));
                    let body = Limited::new(response.into_body(), LONGEST_BODY).collect().await;
                    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                    (Asked::Failed(of_answer(status, &body)), again_after)
                }
                Err(Lost::Refused) => return Asked::Failed(Failure::Refused),
                Err(Lost::Broken) => (Asked::Closed { lasted: self.clock.now().saturating_sub(began) }, Some(AFTER_BREAK)),
            };
            let may_repeat = self.client_go.repeats_watches() && repeats < MOST_REPEATS;
            let Some(seconds) = again_after.filter(|_| may_repeat) else { return failed };
            repeats += 1;
            self.pause(seconds).await;
        }
    }

    async fn pause(&self, seconds: u32) {
        sleep(self.clock.lasts(Duration::from_secs(seconds.into()))).await;
    }
}

/// The seconds in `Retry-After`, if requests with this status are repeated.
fn retry_after(response: &Response<Incoming>) -> Option<u32> {
    let status = response.status();
    let is_repeated = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok().filter(|_| is_repeated)
}
