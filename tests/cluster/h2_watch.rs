//! A watch over HTTP/2 that reports the first sign that the API server is shutting down.
//!
//! The frames are written by hand (RFC 9113 §4.1), because no client library exposes the moment of a GOAWAY.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

type Tls = StreamOwned<ClientConnection, TcpStream>;

/// The client's connection preface (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const ACK: u8 = 1;
const END_STREAM_AND_HEADERS: u8 = 0x5;
/// The field `:status: 200` of the static table (RFC 7541 appendix A), at the start of a response's header block.
const STATUS_200: u8 = 0x88;

/// Signs of a server's shutdown that a client can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// GOAWAY: the server takes no new requests on this connection.
    GoAway,
    /// The connection has ended.
    End,
}

/// An open watch; closed on drop.
pub(crate) struct H2Watch {
    socket: TcpStream,
    signs: Receiver<(Sign, Instant)>,
}

impl H2Watch {
    /// Connects, requests `path`, and waits for the head of the response, which must have status 200.
    #[track_caller]
    pub(crate) fn open(address: SocketAddr, tls: &Arc<ClientConfig>, token: &str, path: &str) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        let connection = ClientConnection::new(Arc::clone(tls), ServerName::from(address.ip())).unwrap();
        let mut stream = StreamOwned::new(connection, socket.try_clone().unwrap());
        let authority = address.to_string();
        let bearer = format!("Bearer {token}");
        let fields =
            [(":method", "GET"), (":scheme", "https"), (":authority", &authority), (":path", path), ("authorization", &bearer)];
        let head: Vec<u8> = fields.into_iter().flat_map(|(name, value)| field(name, value)).collect();
        stream.write_all(PREFACE).unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
        stream.write_all(&frame(HEADERS, END_STREAM_AND_HEADERS, 1, &head)).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
        await_head(&mut stream);
        let (sender, signs) = channel();
        thread::spawn(move || follow(&mut stream, &sender));
        Self { socket, signs }
    }

    /// The first sign of a shutdown, and the time of its arrival.
    #[track_caller]
    pub(crate) fn first_sign(&self, limit: Duration) -> (Sign, Instant) {
        self.signs.recv_timeout(limit).expect("the watch hears of the server's end")
    }
}

impl Drop for H2Watch {
    fn drop(&mut self) {
        // The server may have closed it already.
        self.socket.shutdown(Shutdown::Both).ok();
    }
}

#[track_caller]
fn await_head(stream: &mut Tls) {
    loop {
        let (kind, payload) = next_frame(stream).unwrap();
        if kind == HEADERS {
            return assert_eq!(payload.first(), Some(&STATUS_200));
        }
    }
}

fn follow(stream: &mut Tls, signs: &Sender<(Sign, Instant)>) {
    // After the test, the receiver has been dropped.
    while let Ok((kind, _)) = next_frame(stream) {
        if kind == GOAWAY {
            signs.send((Sign::GoAway, Instant::now())).ok();
        }
    }
    signs.send((Sign::End, Instant::now())).ok();
}

/// Reads one frame, and acknowledges SETTINGS.
fn next_frame(stream: &mut Tls) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let [length @ .., kind, flags, _, _, _, _] = head;
    let length = length.into_iter().fold(0, |length, byte| length << 8 | usize::from(byte));
    let mut payload = vec![0; length];
    stream.read_exact(&mut payload)?;
    if kind == SETTINGS && flags & ACK == 0 {
        stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?;
    }
    Ok((kind, payload))
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A literal field without indexing, new name, no Huffman coding (RFC 7541 §6.2.2); short ones only.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| {
        assert!(text.len() < 127);
        let length = u8::try_from(text.len()).unwrap();
        [&[length], text.as_bytes()].concat()
    };
    [vec![0], text(name), text(value)].concat()
}
