//! The known facts about an API server, and their basis.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::etcd_support::EtcdSupport;
use super::gates::{Gate, GateStage};
use super::version::{Release, ServerVersion};
use crate::k8s::Resource;

/// Groups that only extension servers serve.
const COMMONLY_AGGREGATED: [&str; 3] = ["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"];

/// Where a fact comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// A flag of watchtap. It overrides all other sources.
    Flag,
    /// The server's own answer to watchtap's `GET /version`.
    VersionEndpoint,
    /// The server's own answer to a client's `GET /version`.
    ClientTraffic,
    /// The server's own metrics.
    Metrics,
    /// The default of the server's minor version.
    MinorDefault,
    /// No source: the value of most servers is assumed.
    #[default]
    Assumed,
    /// No source and no assumption: the fact is unknown.
    Unknown,
}

impl fmt::Display for Basis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Flag => "flag",
            Self::VersionEndpoint => "/version",
            Self::ClientTraffic => "/version, read in a client's traffic",
            Self::Metrics => "/metrics",
            Self::MinorDefault => "assumed default",
            Self::Assumed => "assumed",
            Self::Unknown => "unknown",
        })
    }
}

/// Basis of each fact in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Provenance {
    /// Basis of [`ServerProfile::version`].
    pub version: Basis,
    /// Basis of the gates that are not in [`ServerProfile::gates`].
    pub gates: Basis,
    /// Basis of [`ServerProfile::etcd`].
    pub etcd: Basis,
    /// Basis of [`ServerProfile::watch_cache`] and [`ServerProfile::uncached`].
    pub watch_cache: Basis,
    /// Basis of [`ServerProfile::aggregated`].
    pub aggregated: Basis,
}

impl Default for Provenance {
    fn default() -> Self {
        Self {
            version: Basis::Unknown,
            gates: Basis::MinorDefault,
            etcd: Basis::Assumed,
            watch_cache: Basis::Assumed,
            aggregated: Basis::Assumed,
        }
    }
}

/// The facts about one API server that decide which layer answers. Any combination of values is valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct ServerProfile {
    /// `None` when it is unknown.
    pub version: Option<ServerVersion>,
    /// Gates that are set, or that the server reported. A gate has no effect if it cannot be set in the version of the server.
    pub gates: BTreeMap<Gate, bool>,
    /// Gates that answers showed in a state other than their default ([`super::lesson`]). If `gates` lacks such a gate, another
    /// answer showed the opposite state: several servers share one address.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub gates_by_answers: BTreeSet<Gate>,
    /// Version of the etcd behind it.
    pub etcd: EtcdSupport,
    /// `--watch-cache`: whether anything is cached at all.
    pub watch_cache: bool,
    /// Resources other than `events` that have no watch cache, such as `deployments.apps` with the server's flag
    /// `--watch-cache-sizes=deployments.apps#0`.
    pub uncached: BTreeSet<String>,
    /// API groups that an extension server serves.
    pub aggregated: BTreeSet<String>,
    /// Basis of all these facts.
    pub provenance: Provenance,
}

impl Default for ServerProfile {
    fn default() -> Self {
        Self {
            version: None,
            gates: BTreeMap::new(),
            gates_by_answers: BTreeSet::new(),
            etcd: EtcdSupport::default(),
            watch_cache: true,
            uncached: BTreeSet::new(),
            aggregated: COMMONLY_AGGREGATED.map(str::to_owned).into(),
            provenance: Provenance::default(),
        }
    }
}

impl ServerProfile {
    /// A server of `version` with that version's defaults.
    pub fn of_version(version: ServerVersion, basis: Basis) -> Self {
        Self { version: Some(version), provenance: Provenance { version: basis, ..Provenance::default() }, ..Self::default() }
    }

    /// The profile of another server at the same address: a client's `GET /version` returned `version`. The etcd and the watch
    /// caches are assumed to be the same. If the version of this server is known, gates from its metrics or answers are not copied.
    /// The defaults of `version` apply instead.
    #[must_use]
    pub fn of_another_version(&self, version: ServerVersion) -> Self {
        let mut other = Self { version: Some(version), ..self.clone() };
        other.provenance.version = Basis::ClientTraffic;
        if self.version.is_some() {
            let learned = std::mem::take(&mut other.gates_by_answers);
            other.gates.retain(|gate, _| self.provenance.gates != Basis::Metrics && !learned.contains(gate));
            other.provenance.gates = Basis::MinorDefault;
        }
        other
    }

    /// Whether `gate` is on in `release`: its setting if it can be set, else its default.
    pub fn gate(&self, gate: Gate, release: Release) -> bool {
        let state = gate.state(release);
        let set = self.gates.get(&gate).copied().filter(|_| state.stage.is_settable());
        set.unwrap_or(state.default)
    }

    /// Notes the state of a gate that an answer showed. If an earlier answer showed the opposite, the default applies again.
    pub(crate) fn note_answer(&mut self, gate: Gate, on: bool) {
        if self.gates_by_answers.insert(gate) {
            self.gates.insert(gate, on);
        } else if self.gates.get(&gate) != Some(&on) {
            self.gates.remove(&gate);
        }
    }

    /// Gates that are set but have no effect in the server's version, with their stage.
    pub fn gates_without_effect(&self) -> Vec<(Gate, GateStage)> {
        let Some(version) = &self.version else { return Vec::new() };
        let release = version.release();
        let stages = self.gates.keys().map(|gate| (*gate, gate.state(release).stage));
        stages.filter(|(_, stage)| !stage.is_settable()).collect()
    }

    /// Whether an extension server serves `resource`.
    pub fn is_aggregated(&self, resource: &Resource) -> bool {
        self.aggregated.contains(&resource.group)
    }

    /// Whether `resource` has a watch cache. Core events have none in any version, under either of their groups (§3.1 of
    /// docs/semantics.md; kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go` `DefaultWatchCacheSizes`).
    pub fn is_cached(&self, resource: &Resource) -> bool {
        let is_event = resource.resource == "events" && matches!(resource.group.as_str(), "" | "events.k8s.io");
        self.watch_cache && !is_event && (self.uncached.is_empty() || !self.uncached.contains(&resource.to_string()))
    }

    /// The assumptions of verdicts about this server, one phrase each: `version v1.34.4 (/version)`.
    pub fn assumptions(&self) -> Vec<String> {
        let mut phrases = vec![match &self.version {
            Some(version) => format!("version {version} ({})", self.provenance.version),
            None => "version unknown".to_owned(),
        }];
        phrases.extend(self.assumptions_beside_version());
        if let Some(newest) = self.version.as_ref().and_then(ServerVersion::borrowed_from) {
            phrases.push(format!("newer than any version known here: rules of {newest} used"));
        }
        phrases
    }

    /// The assumptions about facts other than the version, one phrase each.
    pub fn assumptions_beside_version(&self) -> Vec<String> {
        let basis = &self.provenance;
        // Nearly every etcd answers progress requests, so this assumption is not reported.
        let etcd = match self.etcd {
            EtcdSupport::Version(version) => Some(format!("etcd {version} ({})", basis.etcd)),
            EtcdSupport::AssumedSound => None,
            EtcdSupport::Unknown => Some("etcd unknown".to_owned()),
        };
        let known = format!("feature gates known ({})", basis.gates);
        let gates = if basis.gates == Basis::MinorDefault { "feature gates: defaults assumed".to_owned() } else { known };
        let mut phrases = vec![gates];
        let answers = |gate: &Gate| if self.gates_by_answers.contains(gate) { " (answers)" } else { "" };
        phrases.extend(self.gates_to_report().map(|(gate, on)| format!("{}={on}{}", gate.as_str(), answers(gate))));
        let disagreed = self.gates_by_answers.iter().filter(|gate| !self.gates.contains_key(gate));
        phrases.extend(disagreed.map(|gate| format!("{} on and off (answers)", gate.as_str())));
        phrases.extend(etcd);
        if !self.watch_cache {
            phrases.push(format!("no watch cache ({})", basis.watch_cache));
        }
        phrases.extend(self.uncached.iter().map(|resource| format!("{resource} without watch cache ({})", basis.watch_cache)));
        let named = self.aggregated.iter().filter(|group| !COMMONLY_AGGREGATED.contains(&group.as_str()));
        phrases.extend(named.map(|group| format!("{group} aggregated ({})", basis.aggregated)));
        phrases
    }

    /// Gates for output. `/metrics` has all gates of a server, so gates from there are reported only if they differ from their
    /// default.
    fn gates_to_report(&self) -> impl Iterator<Item = (&Gate, &bool)> {
        let release = self.version.as_ref().map(ServerVersion::release).filter(|_| self.provenance.gates == Basis::Metrics);
        self.gates.iter().filter(move |(gate, on)| release.is_none_or(|release| gate.state(release).default != **on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_gate_ignores_its_setting() {
        let gates = BTreeMap::from([(Gate::ConsistentListFromCache, false), (Gate::WatchList, false)]);
        let profile = ServerProfile { gates, version: "1.34.4".parse().ok(), ..ServerProfile::default() };
        let release = Release::new(34, 4);
        assert!(profile.gate(Gate::ConsistentListFromCache, release));
        assert!(!profile.gate(Gate::WatchList, release));
        assert_eq!(profile.gates_without_effect(), [(Gate::ConsistentListFromCache, GateStage::Locked)]);
    }

    #[test]
    fn events_and_listed_resources_have_no_cache() {
        let profile = ServerProfile { uncached: ["deployments.apps".to_owned()].into(), ..ServerProfile::default() };
        for (group, resource, cached) in [
            ("", "events", false),
            ("events.k8s.io", "events", false),
            ("apps", "deployments", false),
            ("", "pods", true),
            ("example.com", "events", true),
        ] {
            let resource = Resource { group: group.to_owned(), version: "v1".to_owned(), resource: resource.to_owned() };
            assert_eq!(profile.is_cached(&resource), cached, "{resource}");
        }
    }

    #[test]
    fn profile_survives_its_json_form() {
        let mut profile = ServerProfile::of_version("v1.34.4-gke.1".parse().unwrap(), Basis::VersionEndpoint);
        profile.gates.insert(Gate::WatchList, false);
        profile.etcd = EtcdSupport::Version("3.5.13".parse().unwrap());
        let json = serde_json::to_string(&profile).unwrap();
        assert!(json.contains(r#""etcd":{"version":"3.5.13"}"#), "{json}");
        assert_eq!(serde_json::from_str::<ServerProfile>(&json).unwrap(), profile);
    }

    #[test]
    fn gate_from_answers_is_kept_until_answers_disagree() {
        let mut profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
        profile.note_answer(Gate::WatchList, false);
        profile.note_answer(Gate::WatchList, false);
        assert!(!profile.gate(Gate::WatchList, Release::new(34, 4)));
        assert_eq!(profile.assumptions()[2], "WatchList=false (answers)");
        profile.note_answer(Gate::WatchList, true);
        assert!(profile.gate(Gate::WatchList, Release::new(34, 4)));
        assert_eq!(profile.assumptions()[2], "WatchList on and off (answers)");
    }

    #[test]
    fn assumptions_name_the_basis_of_each_fact() {
        let profile = ServerProfile::of_version("v1.38.0".parse().unwrap(), Basis::VersionEndpoint);
        assert_eq!(
            profile.assumptions(),
            [
                "version v1.38.0 (/version)",
                "feature gates: defaults assumed",
                "newer than any version known here: rules of 1.37 used",
            ]
        );
    }
}
