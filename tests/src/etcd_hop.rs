//! A proxy of the tests between the API server and its etcd, which can hold back watches while all other calls pass.
//!
//! gRPC is HTTP/2, and each watch call is a stream. So the hop can hold back events and answers to progress requests, while reads
//! and writes pass. This makes the watch cache lag. A network fault cannot delay watches alone, because all streams share one
//! connection.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// The gRPC call that the hop can hold back.
const WATCH: &str = "/etcdserverpb.Watch/Watch";

/// Forwards everything until the test ends, and holds back watches on request.
#[derive(Debug)]
pub(crate) struct EtcdHop {
    address: SocketAddr,
    held: watch::Sender<bool>,
    /// Dropping it ends the hop's threads.
    _runtime: Runtime,
}

impl EtcdHop {
    /// Starts a hop to an etcd that speaks HTTP/2 without TLS.
    pub(crate) fn start(etcd: SocketAddr) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        let (held, holding) = watch::channel(false);
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let holding = holding.clone();
                // The API server detects a broken connection itself.
                tokio::spawn(async move { connection(client, etcd, holding).await.ok() });
            }
        });
        Ok(Self { address, held, _runtime: runtime })
    }

    /// The value for `--etcd-servers`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Holds back watches from now on, or releases them.
    pub(crate) fn hold_watches(&self, held: bool) {
        self.held.send_replace(held);
    }
}

async fn connection(client: TcpStream, etcd: SocketAddr, holding: watch::Receiver<bool>) -> Result<()> {
    let mut incoming = h2::server::handshake(client).await?;
    let (upstream, connection) = h2::client::handshake(TcpStream::connect(etcd).await?).await?;
    tokio::spawn(connection);
    while let Some(accepted) = incoming.accept().await {
        let (request, respond) = accepted?;
        let (upstream, holding) = (upstream.clone(), holding.clone());
        tokio::spawn(async move { call(request, respond, upstream, holding).await.ok() });
    }
    Ok(())
}

async fn call(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    upstream: h2::client::SendRequest<Bytes>,
    mut holding: watch::Receiver<bool>,
) -> Result<()> {
    let is_watch = request.uri().path() == WATCH;
    let (head, asked) = request.into_parts();
    let (answer, to_etcd) = upstream.ready().await?.send_request(Request::from_parts(head, ()), false)?;
    tokio::spawn(async move { pass(asked, to_etcd, None).await.ok() });
    let (head, answered) = answer.await?.into_parts();
    // A call that fails immediately has its status in the head, and no body or trailers.
    let is_over = answered.is_end_stream();
    let to_client = respond.send_response(Response::from_parts(head, ()), is_over)?;
    if is_over {
        return Ok(());
    }
    pass(answered, to_client, is_watch.then_some(&mut holding)).await
}

/// Forwards everything up to the trailers; waits while `holding` is true.
async fn pass(mut from: RecvStream, mut to: SendStream<Bytes>, mut holding: Option<&mut watch::Receiver<bool>>) -> Result<()> {
    while let Some(data) = from.data().await {
        let data = data?;
        if let Some(holding) = &mut holding {
            holding.wait_for(|held| !held).await.context("the hop ended")?;
        }
        from.flow_control().release_capacity(data.len())?;
        to.send_data(data, false)?;
    }
    match from.trailers().await? {
        Some(trailers) => to.send_trailers(trailers)?,
        None => to.send_data(Bytes::new(), true)?,
    }
    Ok(())
}
