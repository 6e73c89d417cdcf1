//! Passes bytes between standard streams and a socket, unchanged. `kubectl exec` runs this in a pod, so that the terminal is that of
//! the process that started kubectl: its modes, its time zone, its gate and its files.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::link::{Link, LinkError};
use crate::printable::{hand_over, handed_to};

/// Size of the buffers in bytes.
const BUFFER: usize = 16 << 10;

/// Maximum size of a write, in bytes. A pipe that is writable takes so many without waiting (`PIPE_BUF`, pipe(7)).
const PIECE: usize = 4 << 10;

/// Time for standard output to take the last bytes of a run that has closed the connection.
const LAST: Duration = Duration::from_secs(10);

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
            Ok(read) => {
                for piece in buffer.get(..read).unwrap_or_default().chunks(PIECE) {
                    wait_for_room(&handed_to(), &from_run, LAST)?;
                    hand_over(piece)?;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Waits until `output` takes bytes. If the run has closed the connection, that lasts at most until `limit`: a stream of the kubelet
/// that leads nowhere may stay open for hours, and with it this process.
fn wait_for_room(output: &impl AsFd, run: &UnixStream, limit: Duration) -> io::Result<()> {
    // The end of the connection is reported without being asked for.
    let mut streams = [PollFd::new(output, PollFlags::OUT), PollFd::new(run, PollFlags::empty())];
    wait(&mut streams, None)?;
    let [output, _] = &mut streams;
    if output.revents().is_empty() && wait(std::slice::from_mut(output), Some(limit))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(())
}

/// Waits for an event of a stream. Returns the number of streams with one.
fn wait(streams: &mut [PollFd<'_>], limit: Option<Duration>) -> io::Result<usize> {
    let limit = limit.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    loop {
        match poll(streams, limit.as_ref()) {
            Err(Errno::INTR) => {}
            polled => return Ok(polled?),
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

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn relay_waits_without_end_only_for_a_run_that_is_connected() {
        let (output, run) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        let relayed = |limit| wait_for_room(&output.0, &run.0, limit);
        relayed(Duration::ZERO).unwrap();
        output.0.set_nonblocking(true).unwrap();
        while (&output.0).write(&[0; PIECE]).is_ok() {}
        drop(run.1);
        assert_eq!(relayed(Duration::from_millis(1)).unwrap_err().kind(), ErrorKind::TimedOut);
        thread::scope(|scope| {
            // It is read before the limit.
            scope.spawn(|| (&output.1).read(&mut vec![0; 1 << 20]));
            relayed(Duration::from_mins(1)).unwrap();
        });
    }
}
