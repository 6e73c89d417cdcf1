//! Answers probes and Prometheus: `/ready`, `/healthz` and `/metrics`, over plain HTTP.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;

use super::admissions::Admissions;
use super::certificate::Certificates;
use crate::metrics::{Answering, metrics_page, refusal, text};
use crate::printable::Printable;

/// The threads that answer here are others than those that serve admissions.
const STUCK: &str = "the threads that serve admissions do not answer";

/// The answers. They begin when the port of the webhook is held.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) admissions: Arc<Admissions>,
    pub(super) certificates: Arc<Certificates>,
    /// Whether only this machine can connect.
    pub(super) is_loopback: bool,
}

impl Status {
    /// The reason why the API server must not call this replica now.
    fn not_ready(&self) -> Option<String> {
        if self.admissions.is_stopping() {
            return Some("watchtap is shutting down".to_owned());
        }
        if self.admissions.pulse.is_late(Instant::now()) {
            return Some(STUCK.to_owned());
        }
        let without = || "the certificate is not ready".to_owned();
        (!self.certificates.is_ready()).then(|| self.certificates.problem().unwrap_or_else(without))
    }
}

impl Answering for Status {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if let Some(refusal) = refusal(request, self.is_loopback, &["/metrics", "/healthz", "/ready"]) {
            return refusal;
        }
        match request.uri().path() {
            "/metrics" => {
                let expires = self.certificates.expires();
                metrics_page(request.headers(), |page| self.admissions.numbers.write(page, expires))
            }
            "/ready" => match self.not_ready() {
                Some(reason) => text(StatusCode::SERVICE_UNAVAILABLE, Printable::line(reason).into_string()),
                None => text(StatusCode::OK, "ready\n"),
            },
            _ if self.admissions.pulse.is_lost(Instant::now()) => text(StatusCode::SERVICE_UNAVAILABLE, STUCK),
            _ => text(StatusCode::OK, "watchtap answers\n"),
        }
    }
}
