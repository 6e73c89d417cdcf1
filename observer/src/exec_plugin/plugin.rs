//! Runs an exec plugin, to get a credential for watchtap's own requests.

use std::fmt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::exec_credential;
use super::exec_info::EXEC_INFO;
use crate::kubeconfig::ExecPlugin;

/// Time limit of a plugin. It is long, because some plugins open a browser.
const ENDS_WITHIN: Duration = Duration::from_mins(1);

/// Maximum number of bytes read from a plugin's output.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// The credential that a plugin returned. `Debug` shows no part of it.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct PluginCredential {
    /// A bearer token.
    pub token: Option<String>,
    /// A client certificate and its key, as PEM text.
    pub certificate: Option<(String, String)>,
}

/// Why a plugin returned no credential.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PluginError {
    /// It could not be run.
    #[error("cannot run the exec plugin `{command}`: {error}")]
    Spawn {
        /// As in the kubeconfig.
        command: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// It exited with an error. Its stderr was passed through to watchtap's stderr.
    #[error("the exec plugin `{command}` ended with {status}")]
    Failed {
        /// As in the kubeconfig.
        command: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// It ran longer than a minute.
    #[error("the exec plugin `{command}` did not end within a minute")]
    TimedOut {
        /// As in the kubeconfig.
        command: String,
    },
    /// Its output is no credential.
    #[error("the exec plugin `{command}` did not write an ExecCredential with a token or a certificate")]
    NoCredential {
        /// As in the kubeconfig.
        command: String,
    },
}

/// Runs `plugin` as client-go does (kubernetes/client-go `plugin/pkg/client/auth/exec/exec.go`, v0.34), but never on a terminal.
pub(crate) async fn run_plugin(plugin: &ExecPlugin) -> Result<PluginCredential, PluginError> {
    let command = || plugin.command.clone();
    let mut process = Command::new(Path::new(&plugin.command));
    process.args(&plugin.arguments).envs(plugin.environment.iter().map(|(name, value)| (name, value)));
    process.env(EXEC_INFO, exec_info(plugin).to_string());
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
    let ended = timeout(ENDS_WITHIN, output(process)).await.map_err(|_elapsed| PluginError::TimedOut { command: command() })?;
    let (status, output) = ended.map_err(|error| PluginError::Spawn { command: command(), error })?;
    if !status.success() {
        return Err(PluginError::Failed { command: command(), status });
    }
    PluginCredential::read(&output).ok_or_else(|| PluginError::NoCredential { command: command() })
}

/// Returns the exit status and the output of a program. If the output is longer than [`MAX_OUTPUT`], its pipe is closed.
async fn output(mut process: Command) -> std::io::Result<(ExitStatus, Vec<u8>)> {
    let mut child = process.spawn()?;
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_OUTPUT).read_to_end(&mut output).await?;
    }
    Ok((child.wait().await?, output))
}

fn exec_info(plugin: &ExecPlugin) -> Value {
    let mut spec = Map::from_iter([("interactive".to_owned(), Value::Bool(false))]);
    if plugin.wants_cluster {
        spec.insert("cluster".to_owned(), Value::Object(plugin.cluster.clone()));
    }
    json!({"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec})
}

impl PluginCredential {
    fn read(output: &[u8]) -> Option<Self> {
        let document = exec_credential::document(output)?;
        let token = exec_credential::status_text(&document, "token");
        let credential = Self { token, certificate: exec_credential::certificate(&document) };
        (credential != Self::default()).then_some(credential)
    }
}

impl fmt::Debug for PluginCredential {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PluginCredential").finish_non_exhaustive()
    }
}
