//! Answers `watchtap credential` on the private socket of a run.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::exchange::{MAX_LINE, Question, from_line, to_line};
use super::keeper::Keeper;

/// Maximum number of callers served at once; others wait in the kernel's queue.
const MAX_CALLERS: usize = 16;
/// Time limit for a caller to send its line, and to take the answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a failed accept, which happens when no file descriptor is free.
const PAUSE: Duration = Duration::from_millis(100);

/// The server behind the private socket. It answers every caller that can connect, because only the owner can access the socket and
/// its folder.
#[derive(Debug)]
pub struct CredentialServer {
    listener: UnixListener,
    keeper: Arc<Keeper>,
}

impl CredentialServer {
    /// Listens at `path`, with mode 0600. Needs a tokio runtime.
    pub fn bind(path: &Path, keeper: Keeper) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, keeper: Arc::new(keeper) })
    }

    /// Answers callers; never returns.
    pub async fn serve(self) {
        let mut callers = JoinSet::new();
        loop {
            while callers.len() >= MAX_CALLERS {
                callers.join_next().await;
            }
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    callers.spawn(timeout(TIMEOUT, answer(stream, Arc::clone(&self.keeper))));
                }
                Err(error) => {
                    tracing::warn!(%error, "a caller for a credential could not be accepted");
                    sleep(PAUSE).await;
                }
            }
            while callers.try_join_next().is_some() {}
        }
    }
}

async fn answer(mut stream: UnixStream, keeper: Arc<Keeper>) -> io::Result<()> {
    let (read, mut write) = stream.split();
    let mut line = Vec::new();
    BufReader::new(read.take(MAX_LINE)).read_until(b'\n', &mut line).await?;
    let question: Question = from_line(&line)?;
    write.write_all(&to_line(&keeper.answer(question))?).await
}
