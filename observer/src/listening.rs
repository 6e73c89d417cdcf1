//! Binds the ports at which other programs reach this process.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket, Type};

/// Binds an address. `[::]` stands for all addresses of this machine, IPv6 and IPv4. Where the system has no IPv6, it stands for
/// those of IPv4. Go's `net.Listen` does the same: a manifest cannot know which addresses a pod gets.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    if address.is_ipv4() || !address.ip().is_unspecified() {
        return TcpListener::bind(address);
    }
    match bind_both_families(address) {
        Err(error) if error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error()) => {
            TcpListener::bind((Ipv4Addr::UNSPECIFIED, address.port()))
        }
        bound => bound,
    }
}

fn bind_both_families(address: SocketAddr) -> io::Result<TcpListener> {
    /// As in the standard library's `TcpListener::bind`.
    const BACKLOG: i32 = 128;
    let socket = Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_only_v6(false)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
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
