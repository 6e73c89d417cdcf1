//! Reads the exec plugin of a user, with the information about the cluster that the plugin may request.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::error::{Error, Location};
use super::section::Entry;
use super::selected::CaSource;

/// `users[].user.exec`, as far as another program needs it to run the plugin. Arguments may contain secrets, so `Debug` shows the
/// command only.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecPlugin {
    /// An absolute path, or a name without a slash to find in `PATH`.
    pub command: String,
    /// The arguments, which may contain secrets.
    pub arguments: Vec<String>,
    /// `apiVersion` of the documents that it reads and writes.
    pub api_version: String,
    /// `env`: the variables added to its environment. Values may be secret.
    pub environment: Vec<(String, String)>,
    /// `provideClusterInfo`: whether the plugin gets the cluster in `KUBERNETES_EXEC_INFO`.
    pub wants_cluster: bool,
    /// The cluster of the same context, as in `KUBERNETES_EXEC_INFO` (kubernetes/client-go `rest/exec.go`, `ConfigToExecCluster`,
    /// v0.34). Fields that the client's copy of the kubeconfig does not change are left out.
    pub cluster: Map<String, Value>,
}

impl ExecPlugin {
    /// Reads the plugin, or returns `None` if the user has none. A missing command is an error. Other missing fields are not
    /// checked, since the client reads the same entry first and reports them.
    pub(super) fn read(user: &Entry, cluster: &Entry, ca: &CaSource) -> Result<Option<Self>, Error> {
        let Some(exec) = user.body().and_then(|body| body.get("exec")).and_then(Value::as_object) else { return Ok(None) };
        let location = user.location.child("exec");
        let Some(command) = exec.get("command").and_then(Value::as_str).filter(|command| !command.is_empty()) else {
            return Err(Error::Missing {
                location: location.child("command"),
                remedy: "name the program that prints the credential",
            });
        };
        let arguments = match exec.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(arguments)) => {
                arguments.iter().map(|argument| text(&location, argument)).collect::<Result<_, _>>()?
            }
            Some(_) => return Err(wrong_arguments(&location)),
        };
        Ok(Some(Self {
            command: command.to_owned(),
            arguments,
            api_version: exec.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned(),
            environment: environment(exec),
            wants_cluster: exec.get("provideClusterInfo") == Some(&Value::Bool(true)),
            cluster: described(cluster, ca),
        }))
    }
}

/// Reads `env`, and skips invalid entries, which the client reports.
fn environment(exec: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |entry: &Value, field: &str| entry.get(field).and_then(Value::as_str).map(str::to_owned);
    let entries = exec.get("env").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(|entry| Some((text(entry, "name")?, text(entry, "value")?))).collect()
}

fn text(location: &Location, argument: &Value) -> Result<String, Error> {
    argument.as_str().map(str::to_owned).ok_or_else(|| wrong_arguments(location))
}

fn wrong_arguments(location: &Location) -> Error {
    Error::WrongType { location: location.child("args"), what: "expected a list of strings; write numbers in quotes".to_owned() }
}

fn described(cluster: &Entry, ca: &CaSource) -> Map<String, Value> {
    let mut described = Map::new();
    for field in ["server", "tls-server-name", "proxy-url"] {
        described.extend(cluster.text(field).map(|text| (field.to_owned(), Value::from(text))));
    }
    if cluster.body().and_then(|body| body.get("insecure-skip-tls-verify")) == Some(&Value::Bool(true)) {
        described.insert("insecure-skip-tls-verify".to_owned(), Value::Bool(true));
    }
    described.extend(ca.pem().map(|pem| ("certificate-authority-data".to_owned(), Value::from(STANDARD.encode(pem)))));
    described
}

impl std::fmt::Debug for ExecPlugin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ExecPlugin").field("command", &self.command).finish_non_exhaustive()
    }
}
