//! A TLS server that answers as the test scripts it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use rustls::ServerConfig;

use crate::loopback_tls::{self, ServerStream};

/// Listens on loopback until the test process ends, with its own certificate.
#[derive(Debug)]
pub struct ScriptedUpstream {
    address: SocketAddr,
    authority: String,
}

impl ScriptedUpstream {
    /// Calls `script` for each connection after its TLS handshake, on a thread of its own.
    ///
    /// When `script` returns `Ok`, the connection ends cleanly: `close_notify`, FIN, and the remaining input is read. On an error
    /// the connection is cut.
    pub fn start(
        protocols: &[&[u8]],
        script: impl Fn(&mut ServerStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Result<Self> {
        let (mut config, authority) = loopback_tls::server_config()?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || serve_all(&listener, &Arc::new(config), &Arc::new(script)));
        Ok(Self { address, authority })
    }

    /// Its listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA that signed its certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.authority
    }
}

fn serve_all<Script>(listener: &TcpListener, config: &Arc<ServerConfig>, script: &Arc<Script>)
where
    Script: Fn(&mut ServerStream) -> io::Result<()> + Send + Sync + 'static,
{
    for socket in listener.incoming().flatten() {
        let (config, script) = (Arc::clone(config), Arc::clone(script));
        thread::spawn(move || -> io::Result<()> {
            // A TCP connection without a handshake does not reach the script.
            let Ok(mut stream) = loopback_tls::serve(config, socket) else { return Ok(()) };
            script(&mut stream)?;
            loopback_tls::end_sending(&mut stream)?;
            io::copy(&mut stream, &mut io::sink())?;
            Ok(())
        });
    }
}
