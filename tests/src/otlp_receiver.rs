//! An OTLP receiver on loopback: keeps the log records, metrics and spans that it takes, and answers as a test scripts.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use flate2::read::GzDecoder;
use futures_util::stream::{self, Pending};
use http::header::{CONTENT_ENCODING, RETRY_AFTER};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceRequest, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::metrics::v1::Metric;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::sync::oneshot;

/// The answer to one request.
#[derive(Clone, Debug)]
pub enum OtlpReply {
    /// Takes the records.
    Take,
    /// Takes them, and reports that it rejected so many.
    Reject(i64, String),
    /// A status without a body, and a `Retry-After` in seconds.
    Status(u16, Option<u64>),
    /// No answer, ever.
    Silence,
    /// Takes the records, and begins a body that never comes.
    Stall,
}

/// A request that was received.
#[derive(Clone, Debug)]
pub struct OtlpRequest {
    /// When its body was complete.
    pub at: Instant,
    /// Such as `/v1/logs`.
    pub path: String,
    /// The header fields.
    pub headers: HeaderMap,
    /// The resource of its records.
    pub resource: Resource,
    /// The log records, whatever was answered.
    pub records: Vec<LogRecord>,
    /// The metrics, whatever was answered.
    pub metrics: Vec<Metric>,
    /// The spans, whatever was answered.
    pub spans: Vec<Span>,
    /// Whether the receiver took them.
    pub taken: bool,
}

/// A running receiver. When it is dropped, its connections end, and its port refuses.
#[derive(Debug)]
pub struct OtlpReceiver {
    address: SocketAddr,
    received: Arc<Received>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Received {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<OtlpRequest>,
    replies: VecDeque<OtlpReply>,
}

impl OtlpReceiver {
    /// Listens on a free port, or on `port` if it is not 0. The first requests get `replies`, and all later ones are taken.
    pub fn start(port: u16, replies: impl IntoIterator<Item = OtlpReply>) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let received = Arc::new(Received::default());
        received.state().replies.extend(replies);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (end, ended) = oneshot::channel::<()>();
        let by_server = Arc::clone(&received);
        let thread = thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    served = serve(listener, by_server) => drop(served),
                    _end = ended => {}
                }
            });
        });
        Ok(Self { address, received, end: Some(end), thread: Some(thread) })
    }

    /// The URL for `--otlp`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<OtlpRequest> {
        self.received.state().requests.clone()
    }

    /// The records that were taken, in order.
    pub fn records(&self) -> Vec<LogRecord> {
        taken(&self.received.state())
    }

    /// The spans that were taken, in order.
    pub fn spans(&self) -> Vec<Span> {
        let state = self.received.state();
        state.requests.iter().filter(|request| request.taken).flat_map(|request| request.spans.clone()).collect()
    }

    /// The metrics of the last request with metrics that was taken.
    pub fn last_metrics(&self) -> Vec<Metric> {
        let state = self.received.state();
        let mut of_metrics = state.requests.iter().filter(|request| request.taken && !request.metrics.is_empty());
        of_metrics.next_back().map(|request| request.metrics.clone()).unwrap_or_default()
    }

    /// Waits until the requests fulfil a condition, for two minutes at most: a demo is slow on a busy machine.
    pub fn wait_until(&self, condition: impl Fn(&[OtlpRequest]) -> bool) -> Result<()> {
        let unfulfilled = |state: &mut State| !condition(&state.requests);
        let waited = self.received.changed.wait_timeout_while(self.received.state(), Duration::from_mins(2), unfulfilled);
        let (state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            bail!("the requests so far: {:?}", state.requests);
        }
        Ok(())
    }
}

impl Drop for OtlpReceiver {
    fn drop(&mut self) {
        drop(self.end.take());
        // A receiver that panicked has failed its test already.
        self.thread.take().map(JoinHandle::join);
    }
}

impl Received {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let body = if head.headers.contains_key(CONTENT_ENCODING) { inflated(&body)?.into() } else { body };
        let path = head.uri.path().to_owned();
        let Export { resource, records, metrics, spans } = match path.rsplit('/').next() {
            Some("metrics") => metrics(body)?,
            Some("traces") => spans(body)?,
            _ => logs(body)?,
        };
        let reply = {
            let mut state = self.state();
            let reply = state.replies.pop_front().unwrap_or(OtlpReply::Take);
            let taken = matches!(reply, OtlpReply::Take | OtlpReply::Reject(..) | OtlpReply::Stall);
            let headers = head.headers;
            state.requests.push(OtlpRequest { at: Instant::now(), path, headers, resource, records, metrics, spans, taken });
            reply
        };
        self.changed.notify_all();
        let response = match reply {
            OtlpReply::Take => Response::new(Full::default()),
            OtlpReply::Reject(rejected_log_records, error_message) => {
                let partial_success = Some(ExportLogsPartialSuccess { rejected_log_records, error_message });
                Response::new(ExportLogsServiceResponse { partial_success }.encode_to_vec().into())
            }
            OtlpReply::Status(status, after) => {
                let response = Response::builder().status(status);
                after.into_iter().fold(response, |response, after| response.header(RETRY_AFTER, after)).body(Full::default())?
            }
            OtlpReply::Silence => std::future::pending().await,
            OtlpReply::Stall => return Ok(Response::new(Either::Right(StreamBody::new(stream::pending())))),
        };
        Ok(response.map(Either::Left))
    }
}

/// A body, or one that never comes.
type Body = Either<Full<Bytes>, StreamBody<Pending<Result<Frame<Bytes>, Infallible>>>>;

#[derive(Default)]
struct Export {
    resource: Resource,
    records: Vec<LogRecord>,
    metrics: Vec<Metric>,
    spans: Vec<Span>,
}

fn logs(body: Bytes) -> Result<Export> {
    let export = ExportLogsServiceRequest::decode(body).context("the body is no export of logs")?;
    let [logs] = export.resource_logs.as_slice() else { bail!("not one resource: {export:?}") };
    let records = logs.scope_logs.iter().flat_map(|scope| scope.log_records.clone()).collect();
    Ok(Export { resource: logs.resource.clone().unwrap_or_default(), records, ..Export::default() })
}

fn metrics(body: Bytes) -> Result<Export> {
    let export = ExportMetricsServiceRequest::decode(body).context("the body is no export of metrics")?;
    let [metrics] = export.resource_metrics.as_slice() else { bail!("not one resource: {export:?}") };
    let all = metrics.scope_metrics.iter().flat_map(|scope| scope.metrics.clone()).collect();
    Ok(Export { resource: metrics.resource.clone().unwrap_or_default(), metrics: all, ..Export::default() })
}

fn spans(body: Bytes) -> Result<Export> {
    let export = ExportTraceServiceRequest::decode(body).context("the body is no export of spans")?;
    let [spans] = export.resource_spans.as_slice() else { bail!("not one resource: {export:?}") };
    let all = spans.scope_spans.iter().flat_map(|scope| scope.spans.clone()).collect();
    Ok(Export { resource: spans.resource.clone().unwrap_or_default(), spans: all, ..Export::default() })
}

async fn serve(listener: TcpListener, received: Arc<Received>) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (socket, _client) = listener.accept().await?;
        let received = Arc::clone(&received);
        let answer = service_fn(move |request| {
            let received = Arc::clone(&received);
            async move { received.answer(request).await }
        });
        // A client may leave at any time.
        tokio::spawn(async move {
            drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await);
        });
    }
}

fn taken(state: &State) -> Vec<LogRecord> {
    state.requests.iter().filter(|request| request.taken).flat_map(|request| request.records.clone()).collect()
}

#[expect(clippy::disallowed_methods, reason = "the records of a test")]
fn inflated(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut inflated = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut inflated)?;
    Ok(inflated)
}
