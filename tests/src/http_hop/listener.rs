//! The hop's listener, its script and the requests that it received.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::broadcast;

use super::connection::{self, Target};
use super::script::{Act, Request, Script, Scripted};
use crate::loopback_tls;

/// Listens on loopback, with its own certificate, until it is dropped.
#[derive(Debug)]
pub struct HttpHop {
    address: SocketAddr,
    authority: String,
    state: Arc<HopState>,
    _runtime: Runtime,
}

/// State that the test shares with all connections.
#[derive(Debug)]
pub(super) struct HopState {
    pub(super) script: Script,
    pub(super) acts: broadcast::Sender<Act>,
    received: Mutex<Vec<Request>>,
}

impl HttpHop {
    /// Starts a hop to the API server at `target`, whose certificate `authority` (PEM) signed.
    pub fn start(target: SocketAddr, authority: &str) -> Result<Self> {
        let (mut front, own_authority) = loopback_tls::server_config()?;
        front.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut back = loopback_tls::client_config(authority)?;
        back.alpn_protocols = vec![b"h2".to_vec()];
        let target = Target { address: target, tls: Arc::new(back).into() };
        let state = HopState { script: Script::default(), acts: broadcast::Sender::new(16), received: Mutex::default() };
        let state = Arc::new(state);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).thread_name("http-hop").enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).context("cannot listen for a hop")?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener, Arc::new(front), target, Arc::clone(&state)));
        Ok(Self { address, authority: own_authority, state, _runtime: runtime })
    }

    /// Its listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA that signed its certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.authority
    }

    /// Applies `act` to all open watches and connections.
    pub fn happen(&self, act: Act) {
        // An error means only that no connection is open.
        self.state.acts.send(act).ok();
    }

    /// Scripts an answer from now on; `None` passes all requests to the server.
    pub fn script(&self, scripted: Option<Scripted>) {
        self.state.script.set(scripted);
    }

    /// The requests of the client with this bearer token: path and query as received.
    pub fn received(&self, token: &str) -> Vec<String> {
        let client = format!("Bearer {token}");
        let received = self.state.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.iter().filter(|request| request.client == client).map(|request| request.uri.clone()).collect()
    }
}

impl HopState {
    pub(super) fn received(&self, request: Request) {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    }
}

async fn serve(listener: TcpListener, front: Arc<ServerConfig>, target: Target, state: Arc<HopState>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(connection::serve(client, Arc::clone(&front).into(), target.clone(), Arc::clone(&state)));
    }
}
