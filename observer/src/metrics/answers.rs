//! The answers of the server: its three paths, and everything else.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName, HeaderValue, VARY};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::Full;

use super::accepted::{Accepted, Coding};
use super::scrapes::Scrapes;

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Answers {
    scrapes: Scrapes,
    has_started: AtomicBool,
    /// Whether only this machine can connect.
    is_loopback: bool,
}

impl Answers {
    pub(super) fn new(scrapes: Scrapes, is_loopback: bool) -> Self {
        Self { scrapes, has_started: AtomicBool::new(false), is_loopback }
    }

    /// Notes that the files for clients are written and the ports are held, or that the probe is attached.
    pub(super) fn note_started(&self) {
        self.has_started.store(true, Ordering::Relaxed);
    }

    /// Answers a request. Its body is not read.
    pub(super) async fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if self.is_loopback && !is_for_this_machine(request.headers()) {
            return text(StatusCode::MISDIRECTED_REQUEST, "use the IP address of this server, or localhost\n");
        }
        let path = request.uri().path();
        if !["/metrics", "/started", "/healthz"].contains(&path) {
            return text(StatusCode::NOT_FOUND, "watchtap has /metrics, /started and /healthz\n");
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return with(text(StatusCode::METHOD_NOT_ALLOWED, "use GET\n"), ALLOW, "GET, HEAD");
        }
        match path {
            "/metrics" => self.metrics(request.headers()).await,
            "/started" if self.has_started.load(Ordering::Relaxed) => text(StatusCode::OK, "started\n"),
            "/started" => text(StatusCode::SERVICE_UNAVAILABLE, "watchtap is starting\n"),
            _ if self.scrapes.is_alive() => text(StatusCode::OK, "watchtap observes\n"),
            _ => text(StatusCode::SERVICE_UNAVAILABLE, "observing has ended\n"),
        }
    }

    async fn metrics(&self, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let page = match self.scrapes.page().await {
            Ok(page) => page,
            Err(why) => return text(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        };
        let accepted = Accepted::by(headers);
        let begun = Instant::now();
        let bytes = page.bytes(accepted);
        self.scrapes.note_written(begun.elapsed());
        let answer = response(StatusCode::OK, accepted.format.media_type(), bytes);
        let answer = with(answer, VARY, "accept, accept-encoding");
        match accepted.coding {
            Coding::Identity => answer,
            Coding::Gzip => with(answer, CONTENT_ENCODING, "gzip"),
        }
    }
}

/// Whether the host is an address or `localhost`. Otherwise a page in a browser of this machine could read the metrics, if its own
/// name leads to the loopback address (DNS rebinding).
fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit())).map_or(host, |(name, _)| name);
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.is_empty() || name.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    response(status, "text/plain; charset=utf-8", text.into())
}

fn response(status: StatusCode, media_type: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    with(with(response, CONTENT_TYPE, media_type), CACHE_CONTROL, "no-store")
}

fn with(mut response: Response<Full<Bytes>>, name: HeaderName, value: &'static str) -> Response<Full<Bytes>> {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}
