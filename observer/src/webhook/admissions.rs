//! Answers the requests of the API server.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::body::Bodies;
use super::numbers::Numbers;
use super::pulse::Pulse;
use super::review::{MOST_VALUES, NoReview, Outcome, Reviewed, review, values};
use crate::injection::Options;

/// The path of the webhook.
pub(super) const PATH: &str = "/mutate";

/// How long a review may wait until others are answered. The API server waits for ten seconds by default.
pub(super) const VALUES_LIMIT: Duration = Duration::from_secs(5);

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Admissions {
    options: Options,
    bodies: Bodies,
    /// Free values: all reviews that are answered at the same time have [`MOST_VALUES`] together.
    values: Semaphore,
    pub(super) numbers: Arc<Numbers>,
    pub(super) pulse: Pulse,
    is_stopping: AtomicBool,
}

/// A request without a review.
struct Malformed {
    status: StatusCode,
    reason: String,
    /// Whether the rest of the request is still unread.
    is_unread: bool,
}

impl Admissions {
    pub(super) fn new(options: Options, numbers: Arc<Numbers>) -> Self {
        let (values, pulse) = (Semaphore::new(MOST_VALUES), Pulse::new(Instant::now()));
        Self { options, bodies: Bodies::new(), values, numbers, pulse, is_stopping: AtomicBool::new(false) }
    }

    /// From now on, each answer is the last one of its connection, so that clients look for another replica.
    pub(super) fn note_stopping(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        let (outcome, mut response, is_last) = match self.reviewed(request).await {
            Ok((outcome, body)) => (outcome, with_type(body, "application/json"), false),
            Err(Malformed { status, reason, is_unread }) => {
                tracing::debug!("{status}: {reason}");
                let mut response = with_type(format!("{reason}\n"), "text/plain; charset=utf-8");
                *response.status_mut() = status;
                if status == StatusCode::METHOD_NOT_ALLOWED {
                    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
                }
                (Outcome::Malformed, response, is_unread)
            }
        };
        if is_last || self.is_stopping() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        self.numbers.note_answer(outcome);
        Ok(response)
    }

    async fn reviewed(&self, request: Request<Incoming>) -> Result<(Outcome, Bytes), Malformed> {
        let refused = |status, reason: String| Malformed { status, reason, is_unread: true };
        if request.uri().path() != PATH {
            return Err(refused(StatusCode::NOT_FOUND, format!("the webhook has the path {PATH}")));
        }
        if request.method() != Method::POST {
            return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "use POST".to_owned()));
        }
        let body = self.bodies.read(request.into_body()).await;
        let body = body.map_err(|reason| refused(reason.status(), reason.to_string()))?;
        // From here on: the time in which a client sends its body is not watchtap's.
        let begun = Instant::now();
        let refused = |status, reason: String| Malformed { status, reason, is_unread: false };
        let no_review = |reason: NoReview| refused(StatusCode::BAD_REQUEST, reason.to_string());
        let values = values(&body.bytes).map_err(no_review)?;
        let Ok(Ok(_taken)) = timeout(VALUES_LIMIT, self.values.acquire_many(values)).await else {
            return Err(refused(StatusCode::SERVICE_UNAVAILABLE, "too many large reviews at once".to_owned()));
        };
        let Reviewed { outcome, body: answer, note } = review(&body.bytes, &self.options).map_err(no_review)?;
        drop(body);
        let answer = self.bodies.answer(answer).map_err(|reason| refused(reason.status(), reason.to_string()))?;
        if let Some(note) = note {
            tracing::info!("{note}");
        }
        self.numbers.note_duration(begun.elapsed());
        Ok((outcome, answer))
    }
}

fn with_type(body: impl Into<Bytes>, media_type: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
