//! Passes bytes between standard streams and a socket, unchanged. `kubectl exec` runs this in a pod, so that the terminal is that of
//! the process that started kubectl: its modes, its time zone, its gate and its files.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;

use super::link::{Link, LinkError};
use crate::printable::hand_over;

/// Size of the buffers in bytes.
const BUFFER: usize = 16 << 10;

/// Relays until the run closes the connection.
pub(crate) fn relay(path: &Path) -> Result<(), LinkError> {
    let mut from_run = Link::connect_plainly(path)?;
    let mut to_run = from_run.try_clone()?;
    thread::Builder::new().name("relay".to_owned()).spawn(move || {
        if let Err(error) = pass_input(&mut to_run) {
            tracing::debug!("the input ended: {error}");
        }
        // The run has closed the connection already, if this fails.
        let _closed = to_run.shutdown(Shutdown::Both);
    })?;
    let mut buffer = vec![0; BUFFER];
    loop {
        match from_run.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => hand_over(buffer.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn pass_input(to_run: &mut UnixStream) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = input.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to_run.write_all(buffer.get(..read).unwrap_or_default())?;
    }
}
