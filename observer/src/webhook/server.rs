//! The run of the webhook: from its ports to its end.

use std::io;
use std::net::{SocketAddr, TcpListener as BoundListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::admissions::{Admissions, PATH};
use super::certificate::{self, Certificates};
use super::connections::Connections;
use super::numbers::Numbers;
use super::pulse::BEAT;
use super::status::Status;
use crate::injection::Options;
use crate::printable::print_message;
use crate::signals::SignalStream;
use crate::{listening, metrics};

/// How long requests are served after SIGTERM: until then, the Service may still lead API servers here.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// Time limit for the last requests.
const LAST: Duration = Duration::from_secs(5);

/// Pause after an error of accept(2), such as a lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum number of serving threads. An admission takes less than a millisecond of one.
const MOST_THREADS: usize = 4;

/// The settings of a run.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) injection: Options,
    pub(crate) listen: SocketAddr,
    pub(crate) metrics: SocketAddr,
    pub(crate) certificate: certificate::Config,
}

/// Serves until a signal requests shutdown. A further one ends the run at once.
pub(crate) fn run(settings: Settings) -> Result<()> {
    let runtime = runtime().context("cannot start the threads of the webhook")?;
    let ended = runtime.block_on(serve(settings));
    runtime.shutdown_background();
    ended
}

fn runtime() -> io::Result<Runtime> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    Builder::new_multi_thread().worker_threads(threads).thread_name("webhook").enable_all().build()
}

async fn serve(settings: Settings) -> Result<()> {
    let Settings { injection, listen, metrics, certificate } = settings;
    // First: until then, the kernel drops a SIGTERM to the first process of a container.
    let mut signals = SignalStream::open().context("cannot listen for signals")?;
    let listener = bind(listen).with_context(|| format!("cannot listen on {listen} (--listen)"))?;
    let listen = listener.local_addr()?;
    let status_listener = listening::bind(metrics).with_context(|| format!("cannot listen on {metrics} (--metrics)"))?;
    let metrics = status_listener.local_addr()?;
    let certificates = Arc::new(Certificates::start(certificate).context("cannot prepare the certificate")?);
    let admissions = Arc::new(Admissions::new(injection, Arc::new(Numbers::new())));
    let connections = Connections::new(certificates.server_config(), Arc::clone(&admissions));
    let is_loopback = metrics::is_loopback(metrics);
    let status = Status { admissions: Arc::clone(&admissions), certificates, is_loopback };
    let _served = metrics::serve(status_listener, Arc::new(status)).context("cannot serve the metrics")?;
    let (stop, stopped) = oneshot::channel();
    let mut accepting = tokio::spawn(accept(listener, connections, Arc::clone(&admissions), stopped));
    print_message(format_args!("admissions: https://{listen}{PATH}"));
    print_message(format_args!("metrics: http://{metrics}/metrics, /ready and /healthz"));
    tokio::select! {
        _signal = signals.next_end() => {}
        ended = &mut accepting => bail!("the webhook accepts no more connections: {ended:?}"),
    }
    admissions.note_stopping();
    print_message(format_args!("stopping: requests are answered for {} s more; another signal stops at once", GRACE.as_secs()));
    let drained = async {
        sleep(GRACE).await;
        drop(stop);
        timeout(LAST, accepting).await
    };
    tokio::select! {
        _drained = drained => {}
        _signal = signals.next_end() => {}
    }
    Ok(())
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let listener: BoundListener = listening::bind(address)?;
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// Accepts connections until `stopped`, and then lets them finish. Each round shows that it still runs.
async fn accept(
    listener: TcpListener,
    mut connections: Connections,
    admissions: Arc<Admissions>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = async {
            connections.have_room().await;
            listener.accept().await
        };
        let accepted = tokio::select! {
            _dropped = &mut stopped => break,
            accepted = accepted => accepted,
            now = beats.tick() => {
                admissions.pulse.beat(now.into_std());
                continue;
            }
        };
        match accepted {
            Ok((tcp, _)) => connections.add(tcp),
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.close().await;
}
