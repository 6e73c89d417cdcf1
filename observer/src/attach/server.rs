//! The thread that serves attached processes, with a runtime of its own. It delays neither forwarding nor observing.

use std::io;
use std::os::unix::net::UnixListener as BoundListener;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::Builder;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::run_report::ServedRun;
use super::socket::AttachSocket;
use super::visit::{Host, MOST_VISITS, Patience, Visit};
use crate::memory_budget::AttachedPages;
use crate::pipeline::SnapshotSource;
use crate::thread_priority;

/// Time for attached processes to learn that the run has ended.
const FAREWELL: Duration = Duration::from_millis(500);

/// Time limit for the end of the thread. A drawing may be under way.
const END: Duration = Duration::from_secs(2);

/// Pause after an error of accept(2), such as a lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A running server. When this is dropped, attached pages close, and the socket is removed.
#[derive(Debug)]
pub(crate) struct AttachServer {
    stop: Option<oneshot::Sender<()>>,
    stopped: Receiver<()>,
    _socket: AttachSocket,
}

impl AttachServer {
    /// Serves `run` and its snapshots on `socket`, with as many pages as `most` allows.
    pub(crate) fn start(socket: AttachSocket, run: ServedRun, snapshots: SnapshotSource, most: AttachedPages) -> io::Result<Self> {
        Self::start_with(socket, Host::new(run, snapshots, Patience::USUAL).within(most))
    }

    pub(super) fn start_with(mut socket: AttachSocket, host: Host) -> io::Result<Self> {
        let listener = socket.take_listener().ok_or(io::ErrorKind::NotConnected)?;
        let (stop, asked) = oneshot::channel();
        let (ended, stopped) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Builder::new().name("attach".to_owned()).spawn(move || {
            if let Err(error) = thread_priority::let_others_go_first() {
                tracing::debug!("attached pages have the priority of the traffic: {error}");
            }
            if let Err(error) = runtime.block_on(serve(listener, Arc::new(host), asked)) {
                tracing::warn!("watchtap attach can no longer reach this run: {error}");
            }
            drop(ended);
        })?;
        Ok(Self { stop: Some(stop), stopped, _socket: socket })
    }
}

impl Drop for AttachServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        // Nothing is sent: the channel closes when the thread ends.
        let _ended = self.stopped.recv_timeout(END);
    }
}

async fn serve(listener: BoundListener, host: Arc<Host>, mut asked: oneshot::Receiver<()>) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let (ending, ended) = watch::channel(false);
    let mut visits = JoinSet::new();
    loop {
        tokio::select! {
            _asked = &mut asked => break,
            accepted = listener.accept(), if visits.len() < MOST_VISITS => match accepted {
                Ok((stream, _)) => {
                    visits.spawn(Visit::new(Arc::clone(&host), stream, ended.clone()).serve());
                }
                Err(error) => {
                    tracing::debug!("a process could not attach: {error}");
                    sleep(PAUSE).await;
                }
            },
            Some(left) = visits.join_next() => match left {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!("an attached process left: {error}"),
                Err(error) => tracing::warn!("an attached page ended because of an internal error ({error}); please report it"),
            },
        }
    }
    drop(listener);
    ending.send_replace(true);
    let all_left = async { while visits.join_next().await.is_some() {} };
    // A terminal that does not read learns of the end when the connection closes.
    let _in_time = timeout(FAREWELL, all_left).await;
    Ok(())
}
