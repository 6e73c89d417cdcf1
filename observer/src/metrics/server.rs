//! The server of `--metrics`: a thread with its own listener and its own runtime, so that it delays neither forwarding nor observing.

use std::io;
use std::net::{SocketAddr, TcpListener as BoundListener};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::answers::Answers;
use super::connections::Connections;
use super::reader::MetricsReader;
use super::scrapes::Scrapes;

/// About a tenth of the weight of the other threads (sched(7)).
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

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
    /// Binds `address`, and serves the numbers of `reader`.
    pub fn start(address: SocketAddr, reader: MetricsReader) -> io::Result<Self> {
        let listener = BoundListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let answers = Arc::new(Answers::new(Scrapes::new(reader), address.ip().to_canonical().is_loopback()));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let of_thread = Arc::clone(&answers);
        Builder::new().name("metrics".to_owned()).spawn(move || {
            let_others_go_first();
            runtime.block_on(async {
                tokio::select! {
                    ended = serve(listener, of_thread) => if let Err(error) = ended {
                        tracing::warn!("metrics are no longer served: {error}");
                    },
                    _stopped = stopped => {}
                }
            });
        })?;
        Ok(Self { address, answers, _stop: stop })
    }

    /// The address with its actual port.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on, `/started` answers with 200.
    pub fn note_started(&self) {
        self.answers.note_started();
    }
}

/// Lowers the priority of this thread, so that it does not take CPU time from the traffic on a busy machine. In Linux, threads have
/// priorities of their own (setpriority(2), "C library/kernel differences"). Elsewhere, it would be that of the process.
fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!("metrics are served with the priority of the traffic: {error}");
    }
}

async fn serve(listener: BoundListener, answers: Arc<Answers>) -> io::Result<()> {
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
