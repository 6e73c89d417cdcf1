//! The messages on the private socket: one line of JSON in each direction, then it is closed.

use std::io::{self, ErrorKind};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum length of a line, in bytes. A certificate with its intermediates takes about 10 KiB; a cluster's CA bundle may take
/// more.
pub(super) const MAX_LINE: u64 = 4 * 1024 * 1024;

/// A question of `watchtap credential`. It has no `Debug`, since it may contain a key.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Question {
    /// Asks which plugin to run.
    Plan {
        /// The name of the kubeconfig's user.
        user: String,
        /// The address of the API server that the client needs the credential for, as in its copy of the kubeconfig.
        server: Option<String>,
    },
    /// Passes on the certificate that the plugin returned.
    Certificate {
        /// The name of the kubeconfig's user.
        user: String,
        /// The certificate, as PEM text.
        certificate_pem: String,
        /// The private key, as PEM text.
        key_pem: String,
    },
}

/// The tap's answer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// The answer to [`Question::Plan`].
    Plan(Plan),
    /// The answer to [`Question::Certificate`]: the pair that the client presents to the tap.
    Certificate {
        /// The certificate, as PEM text.
        certificate_pem: String,
        /// The private key, as PEM text.
        key_pem: String,
    },
    /// The refusal of either question, with the reason.
    No(String),
}

/// The plugin in the user's kubeconfig. Arguments and a proxy's address may contain secrets, so `Debug` shows the command only.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// A path, or a name to find in `PATH`.
    pub command: String,
    /// The arguments, as in the kubeconfig. They may contain secrets.
    pub arguments: Vec<String>,
    /// The original cluster, for `KUBERNETES_EXEC_INFO`.
    pub cluster: Option<Map<String, Value>>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Plan").field("command", &self.command).finish_non_exhaustive()
    }
}

pub(super) fn to_line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Parses a line that [`to_line`] wrote. The error does not quote the line.
pub(super) fn from_line<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    if !line.ends_with(b"\n") {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "the line is not terminated"));
    }
    serde_json::from_slice(line).map_err(|_error| io::Error::new(ErrorKind::InvalidData, "unexpected contents"))
}
