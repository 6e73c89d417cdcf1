//! A time limit for answers: a client that does not read must not keep the memory of one.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream that fails if what is written to it is not sent in time.
#[derive(Debug)]
pub(super) struct TimedWrites<S> {
    stream: S,
    limit: Duration,
    /// Runs from the first byte that had to wait until nothing waits any more, so slow reading does not extend it.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> TimedWrites<S> {
    pub(super) const fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, end: None }
    }

    /// `sends_all` states whether nothing waits any more if `polled` is ready.
    fn within<T>(&mut self, polled: Poll<io::Result<T>>, sends_all: bool, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            if sends_all {
                self.end = None;
            }
            return polled;
        }
        let limit = self.limit;
        let end = self.end.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(end.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedWrites<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedWrites<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within(polled, false, context)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, parts: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.within(polled, false, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_flush(context);
        self.within(polled, true, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_shutdown(context);
        self.within(polled, true, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::runtime::Builder;

    use super::*;

    const BYTES: [u8; 100] = [7; 100];

    #[test]
    fn write_to_a_client_that_reads_nothing_ends() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let error = runtime.block_on(async {
            let (server, _client) = duplex(16);
            TimedWrites::new(server, Duration::from_millis(1)).write_all(&BYTES).await.unwrap_err()
        });
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn slow_reading_does_not_extend_the_time() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let error = runtime.block_on(async {
            let (server, mut client) = duplex(1);
            let mut server = TimedWrites::new(server, Duration::from_millis(1));
            let written = async {
                loop {
                    if let Err(error) = server.write_all(&BYTES).await {
                        return error;
                    }
                }
            };
            let read = async { while client.read_u8().await.is_ok() {} };
            tokio::select! {
                error = written => error,
                () = read => panic!("the stream ended without an error"),
            }
        });
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn time_begins_again_after_everything_is_sent() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (server, mut client) = duplex(16);
            let mut server = TimedWrites::new(server, Duration::from_mins(1));
            let mut read = [0; BYTES.len()];
            let (written, _read) = tokio::join!(server.write_all(&BYTES), client.read_exact(&mut read));
            written.unwrap();
            assert!(server.end.is_some());
            server.flush().await.unwrap();
            assert!(server.end.is_none() && read == BYTES);
        });
    }
}
