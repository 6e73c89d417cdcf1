//! A forward proxy that answers as the test scripts it, on a thread of its own.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// The reply to each request for a connection.
#[derive(Clone, Debug)]
pub enum ProxyReply {
    /// Connects to this upstream, whatever target the client asked for.
    Connect(SocketAddr),
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends nothing until the client leaves.
    Silence,
}

/// The protocol between client and proxy.
#[derive(Clone)]
pub enum Protocol {
    /// HTTP CONNECT. Names and passwords are recorded but not checked.
    Http,
    /// HTTP CONNECT within TLS.
    Https(Arc<ServerConfig>),
    /// SOCKS5 with the name and password that it demands.
    Socks5(Option<(&'static str, &'static str)>),
}

/// A scripted forward proxy that serves until the test process ends.
pub struct ScriptedForwardProxy {
    /// Its listening address, on loopback.
    pub address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ScriptedForwardProxy {
    /// Listens on loopback and gives each client `answer`.
    pub fn start(protocol: Protocol, answer: ProxyReply) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let (address, asked) = (listener.local_addr()?, Arc::default());
        let script = Script { protocol, answer, asked: Arc::clone(&asked) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                while let Ok((tcp, _)) = listener.accept().await {
                    tokio::spawn(script.clone().serve(tcp));
                }
            });
        });
        Ok(Self { address, asked })
    }

    /// The targets that clients asked for so far: heads of HTTP requests, or `HOST:PORT` in SOCKS.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Clone)]
struct Script {
    protocol: Protocol,
    answer: ProxyReply,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Script {
    /// A client may leave at any point; callers ignore the error.
    async fn serve(self, tcp: TcpStream) {
        match self.protocol.clone() {
            Protocol::Http => self.connect(tcp).await.ok(),
            Protocol::Https(config) => match TlsAcceptor::from(config).accept(tcp).await {
                Ok(tls) => self.connect(tls).await.ok(),
                Err(_client_left) => None,
            },
            Protocol::Socks5(credentials) => self.socks5(tcp, credentials).await.ok(),
        };
    }

    async fn connect(self, mut client: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await?);
        }
        self.was_asked(String::from_utf8_lossy(&head).into_owned());
        self.act(client, b"HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n").await
    }

    async fn socks5(self, mut client: TcpStream, credentials: Option<(&str, &str)>) -> io::Result<()> {
        let mut methods = [0; 2];
        client.read_exact(&mut methods).await?;
        let mut offered = vec![0; usize::from(methods[1])];
        client.read_exact(&mut offered).await?;
        match credentials {
            None => client.write_all(&[5, 0]).await?,
            Some(_) if !offered.contains(&2) => return client.write_all(&[5, 0xff]).await,
            Some((name, password)) => {
                client.write_all(&[5, 2]).await?;
                client.read_u8().await?;
                let given = (read_text(&mut client).await?, read_text(&mut client).await?);
                let right = given == (name.to_owned(), password.to_owned());
                client.write_all(&[1, u8::from(!right)]).await?;
                if !right {
                    return Ok(());
                }
            }
        }
        let mut request = [0; 4];
        client.read_exact(&mut request).await?;
        let host = match request[3] {
            1 => std::net::Ipv4Addr::from(client.read_u32().await?).to_string(),
            3 => read_text(&mut client).await?,
            _ => std::net::Ipv6Addr::from(client.read_u128().await?).to_string(),
        };
        let port = client.read_u16().await?;
        self.was_asked(format!("{host}:{port}"));
        self.act(client, &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await
    }

    async fn act(self, mut client: impl AsyncRead + AsyncWrite + Unpin, connected: &[u8]) -> io::Result<()> {
        match self.answer {
            ProxyReply::Connect(upstream) => {
                let mut upstream = TcpStream::connect(upstream).await?;
                client.write_all(connected).await?;
                copy_bidirectional(&mut client, &mut upstream).await.map(|_| ())
            }
            ProxyReply::Bytes(bytes) => {
                client.write_all(&bytes).await?;
                client.shutdown().await
            }
            ProxyReply::Silence => client.read_to_end(&mut Vec::new()).await.map(|_| ()),
        }
    }

    fn was_asked(&self, text: String) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

async fn read_text(client: &mut TcpStream) -> io::Result<String> {
    let mut text = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut text).await?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// The `Proxy-Authorization` field with Basic credentials.
pub fn authorization(name: &str, password: &str) -> String {
    format!("\r\nProxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(format!("{name}:{password}")))
}
