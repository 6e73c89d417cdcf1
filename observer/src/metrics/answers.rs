//! The answers of the server: its four paths, and everything else.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName, HeaderValue, VARY};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;

use super::accepted::{Accepted, Coding};
use super::answering::Answering;
use super::exposition::{Bounds, Exposition};
use super::page::gzip;
use super::scrapes::Scrapes;
use crate::printable::Printable;

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Answers {
    scrapes: Scrapes,
    has_started: AtomicBool,
    /// Why it will not start.
    obstacle: OnceLock<String>,
    /// Whether only this machine can connect.
    is_loopback: bool,
}

impl Answers {
    pub(super) fn new(scrapes: Scrapes, is_loopback: bool) -> Self {
        Self { scrapes, has_started: AtomicBool::new(false), obstacle: OnceLock::new(), is_loopback }
    }

    /// Notes that the files for clients are written and the ports are held, or that the probe is attached.
    pub(super) fn note_started(&self) {
        self.has_started.store(true, Ordering::Relaxed);
    }

    /// Notes why it will not start. Only the first reason is kept.
    pub(super) fn note_obstacle(&self, why: &str) {
        let _first = self.obstacle.set(Printable::line(why).into_string());
    }

    /// Answers a request. Its body is not read.
    pub(super) async fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if let Some(refusal) = refusal(request, self.is_loopback, &["/metrics", "/started", "/ready", "/healthz"]) {
            return refusal;
        }
        match request.uri().path() {
            "/metrics" => self.metrics(request.headers()).await,
            "/started" if self.has_started() => text(StatusCode::OK, "started\n"),
            "/ready" if self.has_started() => text(StatusCode::OK, "ready\n"),
            "/started" | "/ready" => self.not_started(),
            _ if self.scrapes.is_alive() => text(StatusCode::OK, "watchtap observes\n"),
            _ => text(StatusCode::SERVICE_UNAVAILABLE, "observing has ended\n"),
        }
    }

    fn has_started(&self) -> bool {
        self.has_started.load(Ordering::Relaxed)
    }

    fn not_started(&self) -> Response<Full<Bytes>> {
        let why = self.obstacle.get().cloned().unwrap_or_else(|| "watchtap is starting\n".to_owned());
        text(StatusCode::SERVICE_UNAVAILABLE, why)
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
        of_metrics(accepted, bytes)
    }
}

impl Answering for Answers {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        Self::answer(self, request).await
    }
}

/// The answer to a request that no path answers; `None` for a GET of one of `paths`.
pub(crate) fn refusal<B>(request: &Request<B>, is_loopback: bool, paths: &[&str]) -> Option<Response<Full<Bytes>>> {
    if is_loopback && !is_for_this_machine(request.headers()) {
        return Some(text(StatusCode::MISDIRECTED_REQUEST, "use the IP address of this server, or localhost\n"));
    }
    if !paths.contains(&request.uri().path()) {
        let (last, others) = paths.split_last().unwrap_or((&"", &[]));
        return Some(text(StatusCode::NOT_FOUND, format!("watchtap has {} and {last}\n", others.join(", "))));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(with(text(StatusCode::METHOD_NOT_ALLOWED, "use GET\n"), ALLOW, "GET, HEAD"));
    }
    None
}

/// A page of metrics, in the format and the coding that the request accepts.
pub(crate) fn metrics_page(headers: &HeaderMap, write: impl FnOnce(&mut Exposition)) -> Response<Full<Bytes>> {
    let accepted = Accepted::by(headers);
    let mut page = Exposition::new(accepted.format, Bounds::OF_A_PAGE);
    write(&mut page);
    let text = Bytes::from(page.finish());
    of_metrics(
        accepted,
        match accepted.coding {
            Coding::Identity => text,
            // Memory does not fail, so the result is complete.
            Coding::Gzip => gzip(&text).unwrap_or_default(),
        },
    )
}

fn of_metrics(accepted: Accepted, bytes: Bytes) -> Response<Full<Bytes>> {
    let answer = with(response(StatusCode::OK, accepted.format.media_type(), bytes), VARY, "accept, accept-encoding");
    match accepted.coding {
        Coding::Identity => answer,
        Coding::Gzip => with(answer, CONTENT_ENCODING, "gzip"),
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

/// A text, for people.
pub(crate) fn text(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
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
