//! The server of `--metrics`: a thread with its own listener and its own runtime, so that it delays neither forwarding nor observing.

use std::io;
use std::net::{SocketAddr, TcpListener as BoundListener};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::answering::Answering;
use super::answers::Answers;
use super::connections::Connections;
use super::reader::MetricsReader;
use super::scrapes::Scrapes;
use crate::{listening, thread_priority};

/// Pause before a connection that closes the oldest one. A thousand connections at once then take little CPU time from the traffic.
const PAUSE_WITHOUT_ROOM: Duration = Duration::from_millis(5);

/// Pause after an error of accept(2), such as a lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    answers: Arc<Answers>,
    _stop: oneshot::Sender<()>,
}

impl MetricsServer {
    /// Binds `address`, and serves the numbers of `reader` in pages of `most_bytes` at most.
    pub fn start(address: SocketAddr, reader: MetricsReader, most_bytes: usize) -> io::Result<Self> {
        let listener = listening::bind(address)?;
        let address = listener.local_addr()?;
        let answers = Arc::new(Answers::new(Scrapes::new(reader, most_bytes), is_loopback(address)));
        let stop = serve(listener, Arc::clone(&answers))?;
        Ok(Self { address, answers, _stop: stop })
    }

    /// The address with its actual port.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on, `/started` and `/ready` answer with 200.
    pub fn note_started(&self) {
        self.answers.note_started();
    }

    /// From now on, `/started` and `/ready` answer with 503 and this reason, because the run will not start.
    pub fn note_obstacle(&self, why: &str) {
        self.answers.note_obstacle(why);
    }
}

/// Whether only this machine can connect.
pub(crate) fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// Serves `answers` on a thread of its own, until the sender is dropped.
pub(crate) fn serve(listener: BoundListener, answers: Arc<impl Answering>) -> io::Result<oneshot::Sender<()>> {
    listener.set_nonblocking(true)?;
    let (stop, stopped) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Builder::new().name("metrics".to_owned()).spawn(move || {
        if let Err(error) = thread_priority::let_others_go_first() {
            tracing::debug!("metrics are served with the priority of the traffic: {error}");
        }
        runtime.block_on(async {
            tokio::select! {
                ended = accept(listener, answers) => if let Err(error) = ended {
                    tracing::warn!("metrics are no longer served: {error}");
                },
                _stopped = stopped => {}
            }
        });
    })?;
    Ok(stop)
}

async fn accept(listener: BoundListener, answers: Arc<impl Answering>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let mut connections = Connections::default();
    loop {
        if connections.are_all_in_use() {
            sleep(PAUSE_WITHOUT_ROOM).await;
        }
        match listener.accept().await {
            Ok((tcp, _)) => connections.add(tcp, Arc::clone(&answers)),
            Err(error) => {
                tracing::debug!("a scraper could not be accepted: {error}");
                sleep(PAUSE).await;
            }
        }
    }
}
