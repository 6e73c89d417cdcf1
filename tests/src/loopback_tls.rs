//! TLS on 127.0.0.1 between the servers and clients of a test.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::ops::DerefMut;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, RootCertStore, ServerConfig, ServerConnection, SideData, StreamOwned,
};

use crate::credentials;

/// The TLS stream of a blocking client.
pub type ClientStream = StreamOwned<ClientConnection, TcpStream>;
/// The TLS stream of a blocking server.
pub type ServerStream = StreamOwned<ServerConnection, TcpStream>;

/// Time limit of a read, so that a test that waits for missing bytes does not hang.
const SILENCE: Duration = Duration::from_mins(1);

/// The server name of every server here.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::IpAddress(Ipv4Addr::LOCALHOST.into())
}

/// Connects to a loopback server whose certificate `authority` (PEM) signed, and completes the TLS handshake.
pub fn connect(server: SocketAddr, authority: &str, protocols: &[&[u8]]) -> Result<ClientStream> {
    let socket = TcpStream::connect(server).with_context(|| format!("cannot connect to {server}"))?;
    shake_hands(socket, authority, protocols)
}

/// Completes the TLS handshake as a client, on a connected socket.
pub fn shake_hands(socket: TcpStream, authority: &str, protocols: &[&[u8]]) -> Result<ClientStream> {
    let mut config = client_config(authority)?;
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let connection = ClientConnection::new(Arc::new(config), server_name())?;
    patient(&socket)?;
    let mut stream = StreamOwned::new(connection, socket);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).context("handshake with the server")?;
    }
    Ok(stream)
}

/// Completes the TLS handshake with an accepted client.
pub(crate) fn serve(config: Arc<ServerConfig>, socket: TcpStream) -> Result<ServerStream> {
    patient(&socket)?;
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, socket);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).context("handshake with the client")?;
    }
    Ok(stream)
}

/// Ends the sending direction: `close_notify`, then FIN. The other side may continue to send.
pub fn end_sending<C, S>(stream: &mut StreamOwned<C, TcpStream>) -> io::Result<()>
where
    C: DerefMut<Target = ConnectionCommon<S>>,
    S: SideData,
{
    stream.conn.send_close_notify();
    while stream.conn.wants_write() {
        stream.conn.write_tls(&mut stream.sock)?;
    }
    stream.sock.shutdown(Shutdown::Write)
}

/// A configuration that trusts only `authority` (PEM) and offers no ALPN protocol.
pub(crate) fn client_config(authority: &str) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
        roots.add(certificate.context("the authority is not PEM")?)?;
    }
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// A server configuration without ALPN protocols, and the CA that signed its certificate (PEM). Both are new for each call.
pub(crate) fn server_config() -> Result<(ServerConfig, String)> {
    let (authority, identity) = credentials::loopback_server()?;
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?;
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()?;
    Ok((builder.with_no_client_auth().with_single_cert(vec![certificate], key)?, authority))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

fn patient(socket: &TcpStream) -> Result<()> {
    socket.set_read_timeout(Some(SILENCE))?;
    socket.set_write_timeout(Some(SILENCE))?;
    Ok(socket.set_nodelay(true)?)
}
