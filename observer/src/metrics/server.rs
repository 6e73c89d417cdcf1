//! The server of `--metrics`: a thread with its own listener and its own runtime, so that it delays neither forwarding nor observing.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as BoundListener};
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::answers::Answers;
use super::connections::Connections;
use super::reader::MetricsReader;
use super::scrapes::Scrapes;
use crate::thread_priority;

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
        let listener = bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let answers = Arc::new(Answers::new(Scrapes::new(reader), address.ip().to_canonical().is_loopback()));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let of_thread = Arc::clone(&answers);
        Builder::new().name("metrics".to_owned()).spawn(move || {
            if let Err(error) = thread_priority::let_others_go_first() {
                tracing::debug!("metrics are served with the priority of the traffic: {error}");
            }
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

/// Binds an address. `[::]` stands for all addresses of this machine, IPv6 and IPv4. Where the system has no IPv6, it stands for
/// those of IPv4. Go's `net.Listen` does the same: a manifest cannot know which addresses a pod gets.
fn bind(address: SocketAddr) -> io::Result<BoundListener> {
    if address.is_ipv4() || !address.ip().is_unspecified() {
        return BoundListener::bind(address);
    }
    match bind_both_families(address) {
        Err(error) if error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error()) => {
            BoundListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))
        }
        bound => bound,
    }
}

fn bind_both_families(address: SocketAddr) -> io::Result<BoundListener> {
    /// As in the standard library's `TcpListener::bind`.
    const BACKLOG: i32 = 128;
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_only_v6(false)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
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

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, TcpStream};

    use super::*;

    #[test]
    fn unspecified_address_of_ipv6_includes_ipv4() {
        let port = bind("[::]:0".parse().unwrap()).unwrap();
        let address = port.local_addr().unwrap();
        TcpStream::connect((Ipv4Addr::LOCALHOST, address.port())).unwrap();
        if address.is_ipv6() {
            TcpStream::connect((Ipv6Addr::LOCALHOST, address.port())).unwrap();
        }
    }

    #[test]
    fn other_addresses_are_bound_as_they_are() {
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let address: SocketAddr = address.parse().unwrap();
            assert_eq!(bind(address).unwrap().local_addr().unwrap().ip(), address.ip());
        }
    }
}
