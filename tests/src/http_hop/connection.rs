//! Serves one connection of a client: each request is answered by the script or by the real server.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use socket2::SockRef;
use tokio::io::{AsyncWriteExt as _, copy, sink};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tungstenite::handshake::derive_accept_key;

use super::listener::HopState;
use super::script::{self, Act, ScriptedReply};
use super::watch_body::{AnyError, watch_body, without_list_end};
use crate::loopback_tls::server_name;

/// The real server.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) tls: TlsConnector,
}

/// State shared by all requests of one connection.
struct Shared {
    target: Target,
    server: SendRequest<Incoming>,
    state: Arc<HopState>,
    /// Requests a reset of the connection.
    reset: Arc<Notify>,
}

/// Serves a client until either side ends the connection.
pub(super) async fn serve(client: TcpStream, tls: TlsAcceptor, target: Target, state: Arc<HopState>) -> Result<(), AnyError> {
    client.set_nodelay(true)?;
    let client = client.into_std()?;
    let socket = client.try_clone()?;
    let stream = tls.accept(TcpStream::from_std(client)?).await?;
    let (reset, mut acts) = (Arc::new(Notify::new()), state.acts.subscribe());
    let shared = Shared { server: connect(&target).await?, target, state, reset: Arc::clone(&reset) };
    let shared = Arc::new(shared);
    let service = service_fn(move |request| Arc::clone(&shared).respond(request));
    let going_away = async {
        while acts.recv().await? != Act::GoAway {}
        Ok::<_, AnyError>(())
    };
    let builder = auto::Builder::new(TokioExecutor::new());
    let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(stream), service));
    tokio::select! {
        ended = connection.as_mut() => return ended,
        () = reset.notified() => return Ok(SockRef::from(&socket).set_linger(Some(Duration::ZERO))?),
        _ = going_away => connection.as_mut().graceful_shutdown(),
    }
    connection.await
}

async fn connect(target: &Target) -> Result<SendRequest<Incoming>, AnyError> {
    let tcp = TcpStream::connect(target.address).await?;
    tcp.set_nodelay(true)?;
    let stream = target.tls.connect(server_name(), tcp).await?;
    let (server, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(server)
}

impl Shared {
    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<BoxBody<Bytes, AnyError>>, AnyError> {
        let asked = asked(&request);
        let is_watch = asked.is_watch();
        let answer = self.state.script.answer(&asked);
        self.state.received(asked);
        if let Some((status, body)) = answer.and_then(ScriptedReply::status) {
            return answered(status, body.to_string());
        }
        if answer == Some(ScriptedReply::EmptyWatch) {
            return empty_watch(request);
        }
        let acts = self.state.acts.subscribe();
        let response = self.server.clone().send_request(self.passed_on(request)?).await?;
        if let Some(ScriptedReply::ResetAfter(time)) = answer {
            let reset = Arc::clone(&self.reset);
            tokio::spawn(async move {
                sleep(time).await;
                reset.notify_one();
            });
        }
        Ok(response.map(|body| match (is_watch, answer) {
            (true, Some(ScriptedReply::WithoutListEnd)) => without_list_end(watch_body(body, acts)),
            (true, _) => watch_body(body, acts),
            (false, _) => body.map_err(AnyError::from).boxed(),
        }))
    }

    /// Replaces the authority with the server's address, and removes the fields that HTTP/2 forbids (RFC 9113 §8.2.2).
    fn passed_on(&self, mut request: Request<Incoming>) -> Result<Request<Incoming>, AnyError> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = Uri::try_from(format!("https://{}{path}", self.target.address))?;
        *request.version_mut() = http::Version::HTTP_2;
        for name in [header::HOST, header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE] {
            request.headers_mut().remove(name);
        }
        Ok(request)
    }
}

fn asked(request: &Request<Incoming>) -> script::Request {
    let client = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    let uri = request.uri().path_and_query().map_or("/", |path| path.as_str());
    script::Request { client: String::from_utf8_lossy(client).into_owned(), uri: uri.to_owned() }
}

fn answered(status: u16, body: String) -> Result<Response<BoxBody<Bytes, AnyError>>, AnyError> {
    let mut response = Response::new(Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed());
    *response.status_mut() = StatusCode::from_u16(status)?;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if matches!(status, 429 | 504) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    Ok(response)
}

/// Ends a watch over WebSocket with a close frame, and any other with an empty body.
fn empty_watch(request: Request<Incoming>) -> Result<Response<BoxBody<Bytes, AnyError>>, AnyError> {
    let mut response = answered(StatusCode::OK.as_u16(), String::new())?;
    if let Some(key) = request.headers().get(header::SEC_WEBSOCKET_KEY) {
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()))?;
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        response.headers_mut().clear();
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        response.headers_mut().insert(header::SEC_WEBSOCKET_ACCEPT, accept);
        tokio::spawn(close_websocket(hyper::upgrade::on(request)));
    }
    Ok(response)
}

async fn close_websocket(upgrade: OnUpgrade) -> Result<(), AnyError> {
    /// A close frame with the code 1000 (RFC 6455 §5.5.1, §7.4.1).
    const CLOSE: [u8; 4] = [0x88, 2, 0x03, 0xe8];
    let mut stream = TokioIo::new(upgrade.await?);
    stream.write_all(&CLOSE).await?;
    // The client closes the connection.
    copy(&mut stream, &mut sink()).await?;
    Ok(())
}
