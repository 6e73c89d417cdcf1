//! The life cycle of the server: it accepts connections, drains, is down, and starts again.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::connection;
use super::port::Port;
use super::respond::Responder;
use crate::cluster::State;

/// Maximum number of connections open at once; more wait in the kernel's queue.
const MOST_CONNECTIONS: usize = 20_000;

/// Drain timeout, after which open connections are closed.
const DRAIN: Duration = Duration::from_secs(5);

/// Pause after a failed accept, usually for lack of descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// A request for a restart.
#[derive(Debug)]
pub(crate) struct Restart {
    pub(crate) down_for: Duration,
    pub(crate) store: StoreAfter,
    /// Notified when the server listens again.
    pub(crate) done: oneshot::Sender<()>,
}

/// The store of the restarted server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreAfter {
    AsItWas,
    FromBackup,
}

/// A server that can restart on the same port.
pub(crate) struct RestartableServer {
    pub(crate) port: Port,
    pub(crate) responder: Arc<Responder>,
    pub(crate) tls: TlsAcceptor,
    pub(crate) restarts: mpsc::Receiver<Restart>,
}

impl RestartableServer {
    /// Serves and restarts, until all senders of `restarts` are dropped.
    pub(crate) async fn live(mut self, first: TcpListener) {
        let mut listener = first;
        while let Some(restart) = self.serve(listener).await {
            sleep(restart.down_for).await;
            self.responder.cluster.change(|state| {
                if restart.store == StoreAfter::FromBackup {
                    state.restore();
                }
                state.start();
            });
            listener = match self.listen_again().await {
                Some(listener) => listener,
                None => return,
            };
            // The receiver may have been dropped.
            let _outcome = restart.done.send(());
        }
    }

    /// Accepts connections until a restart is requested. Then drains, and returns that restart.
    async fn serve(&mut self, listener: TcpListener) -> Option<Restart> {
        let (stop, stopped) = watch::channel(false);
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut connections = JoinSet::new();
        let restart = loop {
            tokio::select! {
                restart = self.restarts.recv() => break restart,
                accepted = accept(&listener, &room) => {
                    let Ok((tcp, permit)) = accepted else {
                        sleep(ACCEPT_AGAIN).await;
                        continue;
                    };
                    let serving = connection::serve(Arc::clone(&self.responder), self.tls.clone(), tcp, stopped.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(permit);
                    });
                }
                Some(_ended) = connections.join_next() => {}
            }
        };
        drop(listener);
        stop.send_replace(true);
        self.responder.cluster.change(State::end_watches);
        let drained = async { while connections.join_next().await.is_some() {} };
        if timeout(DRAIN, drained).await.is_err() {
            connections.shutdown().await;
        }
        restart
    }

    /// Listens again after a restart. The port is reserved, so this fails only for lack of file descriptors.
    async fn listen_again(&self) -> Option<TcpListener> {
        const ATTEMPTS: usize = 100;
        for _attempt in 0..ATTEMPTS {
            match self.port.listen() {
                Ok(listener) => return Some(listener),
                Err(error) => tracing::warn!(%error, "the demo cannot listen again"),
            }
            sleep(ACCEPT_AGAIN).await;
        }
        None
    }
}

type Accepted = (tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit);

async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> io::Result<Accepted> {
    let permit = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (tcp, _client) = listener.accept().await?;
    Ok((tcp, permit))
}
