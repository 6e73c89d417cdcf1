//! Reads a `ClientHello` in small steps, and accounts for its memory after each.

use std::io::{self, Read, Write};

use rustls::server::{Accepted, Acceptor};
use tokio::net::TcpStream;

use super::hellos::Hello;

/// Maximum number of bytes per read. So a client never holds more than this number of bytes that are not accounted for yet.
const STEP: usize = 4096;

/// Reads to the end of the `ClientHello`. An invalid one is answered with an alert, unless the client left.
pub(super) async fn read(client: &TcpStream, hello: &Hello) -> io::Result<Accepted> {
    let mut acceptor = Acceptor::default();
    loop {
        client.readable().await?;
        match acceptor.read_tls(&mut Steps(client)) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => hello.note(length),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => return Ok(accepted),
            Ok(None) => {}
            Err((error, mut alert)) => {
                // Nothing was sent on this socket before, so its buffer has room.
                alert.write_all(&mut Steps(client)).ok();
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        }
    }
}

/// Reads and writes without waiting; each read has at most [`STEP`] bytes.
struct Steps<'c>(&'c TcpStream);

impl Read for Steps<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(STEP);
        self.0.try_read(buffer.get_mut(..length).unwrap_or_default())
    }
}

impl Write for Steps<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
