//! A recorded connection between a client and a server of the `h2` crate.

use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use observer_core::http::Direction;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// `SETTINGS_HEADER_TABLE_SIZE` of both ends: each limits the other's encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableSizes {
    pub(super) of_client: u32,
    pub(super) of_server: u32,
}

/// A request and its response.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub(super) request: Request<()>,
    pub(super) response: Response<()>,
}

/// The bytes of one write or read of the client.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) direction: Direction,
    pub(super) bytes: Vec<u8>,
}

/// The bytes of a connection in the order of the client's writes and reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Recording(Arc<Mutex<Vec<Piece>>>);

impl Recording {
    pub(super) fn pieces(&self) -> Vec<Piece> {
        self.0.lock().unwrap().clone()
    }

    fn add(&self, direction: Direction, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.0.lock().unwrap().push(Piece { direction, bytes: bytes.to_vec() });
        }
    }
}

/// Sends the requests one by one, each answered with its response.
pub(super) fn exchange(sizes: TableSizes, exchanges: Vec<Exchange>) -> Recording {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let recording = Recording::default();
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (requests, responses) = exchanges.into_iter().map(|Exchange { request, response }| (request, response)).unzip();
        let server = tokio::spawn(answer(far, sizes.of_server, responses));
        ask(Recorded { inner: near, recording: recording.clone() }, sizes.of_client, requests).await;
        server.await.unwrap();
        recording
    })
}

async fn ask(stream: Recorded, table_size: u32, requests: Vec<Request<()>>) {
    let mut builder = h2::client::Builder::new();
    let (mut client, connection) = builder.header_table_size(table_size).handshake::<_, &[u8]>(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    for request in requests {
        client = client.ready().await.unwrap();
        let (response, _body) = client.send_request(request, true).unwrap();
        response.await.unwrap();
    }
    drop(client);
    connection.await.unwrap().unwrap();
}

async fn answer(stream: DuplexStream, table_size: u32, responses: Vec<Response<()>>) {
    let mut builder = h2::server::Builder::new();
    let mut server = builder.header_table_size(table_size).handshake::<_, &[u8]>(stream).await.unwrap();
    let mut responses = responses.into_iter();
    while let Some(accepted) = server.accept().await {
        let (_request, mut answer) = accepted.unwrap();
        answer.send_response(responses.next().unwrap(), true).unwrap();
    }
}

/// The client's end of the connection, which records.
struct Recorded {
    inner: DuplexStream,
    recording: Recording,
}

impl AsyncRead for Recorded {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(pin!(&mut self.inner).poll_read(context, buffer))?;
        self.recording.add(Direction::Response, &buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Recorded {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(pin!(&mut self.inner).poll_write(context, bytes))?;
        self.recording.add(Direction::Request, &bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        pin!(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        pin!(&mut self.inner).poll_shutdown(context)
    }
}
