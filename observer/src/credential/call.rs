//! The side of `watchtap credential` on the private socket to the running watchtap.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::exchange::{MAX_LINE, Plan, Question, Reply, from_line, to_line};
use crate::exec_plugin::exec_info;

/// Time limit for the answer. It is longer than the running watchtap ever needs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Why a request to the tap failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No tap listens at the socket.
    #[error("cannot reach watchtap at {}: {source}; the watchtap that wrote this kubeconfig has ended: use your own kubeconfig again", socket.display())]
    Unreachable {
        /// The socket's path.
        socket: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The exchange was interrupted.
    #[error("the connection to watchtap broke: {0}")]
    Broken(#[from] io::Error),
    /// The tap refused, for this reason.
    #[error("{0}")]
    No(String),
}

/// Asks which plugin to run for `user`; `exec_info` is the value of `KUBERNETES_EXEC_INFO`.
pub fn ask_for_plan(socket: &Path, user: &str, exec_info: Option<&str>) -> Result<Plan, CallError> {
    let info = exec_info.and_then(|info| serde_json::from_str::<Value>(info).ok());
    let server = info.as_ref().and_then(exec_info::server).map(str::to_owned);
    match ask(socket, &Question::Plan { user: user.to_owned(), server })? {
        Reply::Plan(plan) => Ok(plan),
        Reply::No(why) => Err(CallError::No(why)),
        Reply::Certificate { .. } => Err(unexpected()),
    }
}

/// Passes a certificate and its key to the tap. Returns the private certificate and key that the client presents instead.
pub fn hand_over(socket: &Path, user: &str, certificate_pem: &str, key_pem: &str) -> Result<(String, String), CallError> {
    let (certificate_pem, key_pem) = (certificate_pem.to_owned(), key_pem.to_owned());
    match ask(socket, &Question::Certificate { user: user.to_owned(), certificate_pem, key_pem })? {
        Reply::Certificate { certificate_pem, key_pem } => Ok((certificate_pem, key_pem)),
        Reply::No(why) => Err(CallError::No(why)),
        Reply::Plan(_) => Err(unexpected()),
    }
}

fn ask(socket: &Path, question: &Question) -> Result<Reply, CallError> {
    let unreachable = |source| CallError::Unreachable { socket: socket.to_owned(), source };
    let mut stream = UnixStream::connect(socket).map_err(unreachable)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    stream.write_all(&to_line(question)?)?;
    let mut line = Vec::new();
    BufReader::new(stream.take(MAX_LINE)).read_until(b'\n', &mut line)?;
    Ok(from_line(&line)?)
}

fn unexpected() -> CallError {
    CallError::Broken(io::Error::new(io::ErrorKind::InvalidData, "an answer to another request"))
}
