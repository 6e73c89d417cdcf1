//! Learns the server profile by requests to the API server, and replaces values that the user gave as flags.

use std::time::Duration;

use anyhow::Result;
use observer_core::routing::{Basis, EtcdSupport, EtcdVersion, Gate, ServerProfile, ServerVersion};
use tokio::time::timeout;

use super::credentials::reread;
use super::endpoint::endpoint;
use super::request::{QuestionError, ask_metrics, ask_version};
use crate::kubeconfig::Selected;
use crate::printable::print_message;

/// Time limit for the metrics page, including the connection. A large server takes seconds to write the page, and the user waits
/// for it. After this limit, defaults are assumed.
const PAGE_WITHIN: Duration = Duration::from_secs(1);

/// Values that the user gave. They replace those learned from a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProfileOverrides {
    /// The API server's version.
    pub version: Option<ServerVersion>,
    /// Feature gates that are not at their defaults.
    pub gates: Vec<(Gate, bool)>,
    /// The version of its etcd.
    pub etcd: Option<EtcdVersion>,
    /// Resources without a watch cache.
    pub uncached: Vec<String>,
    /// API groups that an extension server serves.
    pub aggregated: Vec<String>,
}

/// The sources of server profiles: the user's values, and requests to the server.
#[derive(Clone, Debug)]
pub(crate) struct ProfileSource {
    /// The user's values, which apply to every server.
    pub overrides: ProfileOverrides,
    /// Whether `/version` is requested. Without it, and without a version in `overrides`, every verdict is unknown.
    pub asks_version: bool,
    /// Whether `/metrics` is requested.
    pub asks_metrics: bool,
}

impl ProfileOverrides {
    /// Returns `profile` with these values in place of its own.
    pub(crate) fn over(&self, mut profile: ServerProfile) -> ServerProfile {
        if let Some(version) = &self.version {
            profile.version = Some(version.clone());
            profile.provenance.version = Basis::Flag;
        }
        profile.gates.extend(self.gates.iter().copied());
        if let Some(version) = self.etcd {
            profile.etcd = EtcdSupport::Version(version);
            profile.provenance.etcd = Basis::Flag;
        }
        if !self.uncached.is_empty() {
            profile.uncached.extend(self.uncached.iter().cloned());
            profile.provenance.watch_cache = Basis::Flag;
        }
        if !self.aggregated.is_empty() {
            profile.aggregated.extend(self.aggregated.iter().cloned());
            profile.provenance.aggregated = Basis::Flag;
        }
        profile
    }
}

impl Default for ProfileSource {
    fn default() -> Self {
        Self { overrides: ProfileOverrides::default(), asks_version: true, asks_metrics: true }
    }
}

impl ProfileSource {
    /// Returns the profile of every server, or `None` if a request to each server is necessary.
    pub(crate) fn without_asking(&self) -> Option<ServerProfile> {
        let needs_no_answer = self.overrides.version.is_some() || !self.asks_version;
        needs_no_answer.then(|| self.overrides.over(ServerProfile::default()))
    }

    /// Returns the profile of the API server of `selected`, and asks that server if necessary. Prints a message for each override
    /// without effect.
    pub(crate) async fn learn(&self, selected: &Selected) -> ServerProfile {
        let profile = match self.without_asking() {
            Some(profile) => profile,
            None => self.overrides.over(ask(selected, self.asks_metrics).await),
        };
        for sentence in gates_without_effect(&profile) {
            print_message(sentence);
        }
        profile
    }

    /// Asks the API server of `selected` for its version again; `None` if it stays unknown. Only a new version leads to a message.
    pub(crate) async fn learn_again(&self, selected: &Selected, known: Option<&ServerVersion>) -> Option<ServerProfile> {
        let (selected, credentials) = &reread(selected).await;
        let asked = ask_version(selected, credentials.as_ref()).await;
        let version = asked.and_then(|version| Ok(version.parse::<ServerVersion>()?));
        let version = version.inspect_err(|error| tracing::debug!(%error, "the API server's version is still unknown")).ok()?;
        if known != Some(&version) {
            print_message(format!("the API server's version is {version} now"));
        }
        Some(self.overrides.over(ServerProfile::of_version(version, Basis::VersionEndpoint)))
    }
}

/// One sentence for each gate of `profile` that cannot be set in its version.
pub(crate) fn gates_without_effect(profile: &ServerProfile) -> Vec<String> {
    let gates = profile.gates_without_effect();
    gates
        .into_iter()
        .map(|(gate, stage)| format!("--gate {} has no effect: in this version the gate is {stage}", gate.as_str()))
        .collect()
}

/// Asks the API server for its version, first without credentials and then with the kubeconfig's static ones. With `metrics`, it
/// also asks for metrics with those credentials. An unknown version is reported, since it makes all verdicts unknown. Users often
/// may not read metrics, so that failure is only logged.
async fn ask(selected: &Selected, metrics: bool) -> ServerProfile {
    let (selected, credentials) = &reread(selected).await;
    let for_metrics = credentials.as_ref().filter(|_| metrics);
    let metrics = for_metrics.is_some();
    let what = if metrics { "/version and /metrics" } else { "/version" };
    print_message(format!("requesting {what} from {} (not in the report)", endpoint(selected)));
    let page = async {
        let found = timeout(PAGE_WITHIN, Box::pin(ask_metrics(selected, for_metrics?))).await;
        Some(found.unwrap_or_else(|_elapsed| Err(QuestionError::TimedOut.into())))
    };
    let (version, found) = tokio::join!(ask_version(selected, credentials.as_ref()), page);
    let mut profile = version_profile(version);
    match found {
        Some(Ok(found)) => found.add_to(&mut profile),
        Some(Err(error)) => tracing::debug!(%error, "default gates and watch caches are assumed"),
        None => {}
    }
    profile
}

fn version_profile(asked: Result<String>) -> ServerProfile {
    match asked {
        Ok(version) => match version.parse::<ServerVersion>() {
            Ok(parsed) => return ServerProfile::of_version(parsed, Basis::VersionEndpoint),
            Err(error) => {
                print_message(format!("the API server reports version `{version}`: {error}; pass --server-version"));
            }
        },
        Err(error) => {
            let error = error.to_string();
            let stop = if error.ends_with('?') { "" } else { "." };
            print_message(format!(
                "the API server's version is unknown: {error}{stop} Verdicts stay unknown until it is known (or pass --server-version)"
            ));
        }
    }
    ServerProfile::default()
}
