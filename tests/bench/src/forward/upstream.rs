//! The API server of the bench, as a separate process. It serves a large list, a small object, a watch with many events, and a
//! watch with one event.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_rustls::TlsAcceptor;

use super::accepting::accept_until_end_of_input;
use super::scenario::Http;
use super::tls;
use crate::decode::ListKind;

/// The paths that it serves.
pub(super) mod paths {
    /// The large list.
    pub(in super::super) const LIST: &str = "/api/v1/pods?limit=500&resourceVersion=0";
    /// An object of 600 bytes.
    pub(in super::super) const SMALL: &str = "/api/v1/namespaces/shop/configmaps/settings";
    /// A watch with many events.
    pub(in super::super) const EVENTS: &str = "/api/v1/pods?watch=true&resourceVersion=7&allowWatchBookmarks=true";
    /// A watch with one event.
    pub(in super::super) const IDLE: &str = "/api/v1/nodes?watch=true&resourceVersion=7&allowWatchBookmarks=true";
    /// watchtap's first request.
    pub(super) const VERSION: &str = "/version";
}

/// Length of every event in bytes, including its newline.
pub(super) const EVENT_BYTES: usize = 1_000;
/// Position and number of digits of the creation time in an event, in nanoseconds since 1970.
pub(super) const STAMP_AT: usize = EVENT_HEAD.len();
pub(super) const STAMP_DIGITS: usize = 19;

/// The text of an event before its creation time.
pub(super) const EVENT_HEAD: &str = r#"{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"checkout-7d9c5b6f4-x7k2p","namespace":"shop","uid":"0b1f6c1e-5a55-4a0e-9d3c-000000000001","resourceVersion":"1234567","annotations":{"made":""#;

/// Serve until standard input ends
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[arg(long)]
    http: Http,
    #[arg(long)]
    certificate: PathBuf,
    #[arg(long)]
    key: PathBuf,
    #[arg(long)]
    list_bytes: usize,
    #[arg(long)]
    events_per_second: u32,
}

/// State shared by all connections.
#[derive(Debug)]
struct Store {
    list: Bytes,
    small: Bytes,
    events_per_second: u32,
}

/// Prints its port on standard output, and serves.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let tls = TlsAcceptor::from(Arc::new(tls::server(args.http, &args.certificate, &args.key)?));
    let list = ListKind::Pods.json(args.list_bytes)?.bytes;
    let store = Arc::new(Store { list, small: small(), events_per_second: args.events_per_second });
    let http = args.http;
    accept_until_end_of_input(move |client| serve(client, tls.clone(), Arc::clone(&store), http))
}

async fn serve(client: TcpStream, tls: TlsAcceptor, store: Arc<Store>, http: Http) -> Result<()> {
    client.set_nodelay(true)?;
    let stream = TokioIo::new(tls.accept(client).await?);
    let service = service_fn(move |request| {
        let answer = answer(&store, &request);
        async move { Ok::<_, Infallible>(answer) }
    });
    match http {
        Http::H1 => http1::Builder::new().serve_connection(stream, service).await?,
        Http::H2 => http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await?,
    }
    Ok(())
}

fn answer(store: &Store, request: &Request<Incoming>) -> Response<ReplyBody> {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    let (status, body) = match target {
        paths::LIST => (StatusCode::OK, ReplyBody::Whole(Some(store.list.clone()))),
        paths::SMALL => (StatusCode::OK, ReplyBody::Whole(Some(store.small.clone()))),
        paths::VERSION => (StatusCode::OK, ReplyBody::Whole(Some(Bytes::from_static(VERSION)))),
        paths::EVENTS => (StatusCode::OK, ReplyBody::Events(Events::at(store.events_per_second))),
        paths::IDLE => (StatusCode::OK, ReplyBody::One(Some(event()))),
        _ => (StatusCode::NOT_FOUND, ReplyBody::Whole(None)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-type", "application/json"),
        ("audit-id", "3b1c7c0e-5a55-4a0e-9d3c-9a0c1f2e3d4c"),
        ("cache-control", "no-cache, private"),
        ("x-kubernetes-pf-flowschema-uid", "0c6e3b8e-1d4f-4a3b-9a55-3c1d5e7f9a0b"),
        ("x-kubernetes-pf-prioritylevel-uid", "5f4dcc3b-5aa7-65d6-1d83-27deb882cf99"),
    ] {
        headers.insert(name, http::HeaderValue::from_static(value));
    }
    response
}

const VERSION: &[u8] = br#"{"major":"1","minor":"34","gitVersion":"v1.34.1","platform":"linux/amd64"}"#;

fn small() -> Bytes {
    const BYTES: usize = 600;
    let head = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop","uid":"c0ffee00-1111-4222-8333-000000000001","resourceVersion":"1234567","creationTimestamp":"2025-11-03T09:15:27Z"},"data":{"text":""#;
    padded(head, "\"}}\n", BYTES)
}

/// Writes the same bodies to files for a server in another language, and returns the length of an item of the list. The time of the
/// event consists of zeros.
pub(super) fn write_bodies(folder: &Path, list_bytes: usize) -> Result<u64> {
    let list = ListKind::Pods.json(list_bytes)?;
    let item = u64::try_from(list.bytes.len())? / list.items;
    fs::create_dir_all(folder)?;
    fs::write(folder.join("list"), list.bytes)?;
    fs::write(folder.join("small"), small())?;
    fs::write(folder.join("version"), VERSION)?;
    fs::write(folder.join("event"), event_of(0))?;
    Ok(item)
}

fn event() -> Bytes {
    event_of(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
}

fn event_of(now: u128) -> Bytes {
    padded(&format!("{EVENT_HEAD}{now:0>STAMP_DIGITS$}\"}}}},\"text\":\""), "\"}}\n", EVENT_BYTES)
}

fn padded(head: &str, tail: &str, length: usize) -> Bytes {
    let padding = "x".repeat(length.saturating_sub(head.len() + tail.len()));
    Bytes::from(format!("{head}{padding}{tail}"))
}

/// A response body.
#[derive(Debug)]
enum ReplyBody {
    /// The complete body, or nothing.
    Whole(Option<Bytes>),
    /// One event, then silence.
    One(Option<Bytes>),
    /// Events at a fixed rate.
    Events(Events),
}

/// Events in bursts of one millisecond, each event flushed separately, as the API server does.
#[derive(Debug)]
struct Events {
    per_second: u32,
    begun: Instant,
    made: u64,
    tick: Interval,
    /// Whether the last event must be flushed before the next one.
    flush: bool,
}

impl Events {
    fn at(per_second: u32) -> Self {
        let mut tick = interval(Duration::from_millis(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        Self { per_second, begun: Instant::now(), made: 0, tick, flush: false }
    }

    fn poll_next(&mut self, context: &mut TaskContext<'_>) -> Poll<Bytes> {
        if std::mem::take(&mut self.flush) {
            // While the body is pending, hyper writes its buffer.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            let due = u64::from(self.per_second) * u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX) / 1_000;
            if self.made < due {
                self.made += 1;
                self.flush = true;
                return Poll::Ready(event());
            }
            ready!(self.tick.poll_tick(context));
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::One(bytes) => match bytes.take() {
                Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                None => Poll::Pending,
            },
            Self::Events(events) => events.poll_next(context).map(|bytes| Some(Ok(Frame::data(bytes)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::One(_) | Self::Events(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_a_fixed_length_and_timestamp_offset() {
        let event = event();
        assert_eq!(event.len(), EVENT_BYTES);
        let json: serde_json::Value = serde_json::from_slice(&event).unwrap();
        let made = json["object"]["metadata"]["annotations"]["made"].as_str().unwrap();
        assert_eq!(made.as_bytes(), &event[STAMP_AT..STAMP_AT + STAMP_DIGITS]);
    }

    #[test]
    fn small_object_is_600_bytes_of_json() {
        let small = small();
        assert_eq!(small.len(), 600);
        assert!(serde_json::from_slice::<serde_json::Value>(&small).is_ok());
    }
}
