//! Feature gates of kube-apiserver that decide which layer answers.
//!
//! Upstream: kubernetes/apiserver `pkg/features/kube_features.go` at every tag from v0.27.0 to v0.37.0-beta.0.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::version::Release;

/// A gate with an effect on routing. Each variant states the effect when the gate is on. Text and JSON use upstream's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Gate {
    /// The watch cache answers lists without `resourceVersion`.
    ConsistentListFromCache,
    /// If the watch cache lags, a consistent list is refused with 429 instead of being read from etcd.
    ConsistentListFromCacheSkipTimeoutFallback,
    /// Snapshots of the watch cache answer lists at an exact revision, and lists with a continue token.
    ListFromCacheSnapshot,
    /// While the watch cache is not ready, the server answers from etcd, or refuses with 429, instead of waiting.
    ResilientWatchCacheInitialization,
    /// Watches without `resourceVersion` go to etcd.
    WatchFromStorageWithoutResourceVersion,
    /// The server accepts `sendInitialEvents`, and sets it for watches whose `resourceVersion` is unset or 0.
    WatchList,
}

/// Stage of a gate in a release: whether it exists and can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateStage {
    /// The release does not have the gate.
    Absent,
    /// Can be set.
    Alpha,
    /// Can be set.
    Beta,
    /// The gate exists, but cannot be set.
    Locked,
    /// The gate was removed, and its last default is permanent. A server that is given the gate does not start.
    Gone,
}

impl fmt::Display for GateStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Absent => "not yet introduced",
            Self::Alpha => "alpha",
            Self::Beta => "beta",
            Self::Locked => "locked to its default",
            Self::Gone => "removed, its behaviour permanent",
        })
    }
}

/// State of a gate in one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateState {
    /// The stage of the gate. It decides whether a setting of the gate has an effect.
    pub stage: GateStage,
    /// Whether the gate is on if it is not set.
    pub default: bool,
}

/// The state of a gate from release `from` on, until the next row of the same gate.
struct GateRow {
    gate: Gate,
    from: Release,
    state: GateState,
}

macro_rules! gate_rows {
    ($($gate:ident $minor:literal.$patch:literal $stage:ident $default:ident;)*) => {
        &[$(GateRow {
            gate: Gate::$gate,
            from: Release::new($minor, $patch),
            state: GateState { stage: GateStage::$stage, default: gate_rows!(@ $default) },
        }),*]
    };
    (@ on) => { true };
    (@ off) => { false };
}

/// The table of §1.2 of docs/semantics.md, one row for each change: gate, minor and patch, stage, default.
const GATES: &[GateRow] = gate_rows! {
    ConsistentListFromCache                     28 . 0   Alpha   off;
    ConsistentListFromCache                     31 . 0   Beta    on;
    ConsistentListFromCache                     34 . 0   Locked  on;
    ConsistentListFromCache                     37 . 0   Gone    on;
    ConsistentListFromCacheSkipTimeoutFallback  37 . 0   Alpha   off;
    WatchList                                   27 . 0   Alpha   off;
    WatchList                                   32 . 0   Beta    on;
    WatchList                                   33 . 0   Beta    off;
    WatchList                                   34 . 0   Beta    on;
    WatchFromStorageWithoutResourceVersion      27 . 13  Beta    off;
    WatchFromStorageWithoutResourceVersion      28 . 0   Absent  off;
    WatchFromStorageWithoutResourceVersion      28 . 9   Beta    off;
    WatchFromStorageWithoutResourceVersion      29 . 0   Absent  off;
    WatchFromStorageWithoutResourceVersion      29 . 4   Beta    off;
    WatchFromStorageWithoutResourceVersion      33 . 0   Locked  off;
    WatchFromStorageWithoutResourceVersion      36 . 0   Gone    off;
    ResilientWatchCacheInitialization           31 . 0   Beta    on;
    ResilientWatchCacheInitialization           34 . 0   Locked  on;
    ResilientWatchCacheInitialization           37 . 0   Gone    on;
    ListFromCacheSnapshot                       33 . 0   Alpha   off;
    ListFromCacheSnapshot                       34 . 0   Beta    on;
};

impl Gate {
    /// Every gate with an effect on routing.
    pub const ALL: [Self; 6] = [
        Self::ConsistentListFromCache,
        Self::ConsistentListFromCacheSkipTimeoutFallback,
        Self::ListFromCacheSnapshot,
        Self::ResilientWatchCacheInitialization,
        Self::WatchFromStorageWithoutResourceVersion,
        Self::WatchList,
    ];

    /// The name, as in `--feature-gates` and in the metric `kubernetes_feature_enabled`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConsistentListFromCache => "ConsistentListFromCache",
            Self::ConsistentListFromCacheSkipTimeoutFallback => "ConsistentListFromCacheSkipTimeoutFallback",
            Self::ListFromCacheSnapshot => "ListFromCacheSnapshot",
            Self::ResilientWatchCacheInitialization => "ResilientWatchCacheInitialization",
            Self::WatchFromStorageWithoutResourceVersion => "WatchFromStorageWithoutResourceVersion",
            Self::WatchList => "WatchList",
        }
    }

    /// Stage and default in `release`.
    pub fn state(self, release: Release) -> GateState {
        GATES
            .iter()
            .filter(|row| row.gate == self && row.from <= release)
            .max_by_key(|row| row.from)
            .map_or(GateState { stage: GateStage::Absent, default: false }, |row| row.state)
    }

    /// The releases in which a gate changes.
    pub(super) fn boundaries() -> impl Iterator<Item = Release> {
        GATES.iter().map(|row| row.from)
    }
}

impl GateStage {
    /// Whether setting the gate has an effect.
    pub const fn is_settable(self) -> bool {
        matches!(self, Self::Alpha | Self::Beta)
    }
}

/// The error for an unknown name of a gate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no gate that affects routing; use one of {}", Gate::ALL.map(Gate::as_str).join(", "))]
pub struct UnknownGate;

impl FromStr for Gate {
    type Err = UnknownGate;

    fn from_str(name: &str) -> Result<Self, UnknownGate> {
        Self::ALL.into_iter().find(|gate| gate.as_str() == name).ok_or(UnknownGate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gate_changes_only_forward_in_time() {
        for gate in Gate::ALL {
            let changes: Vec<Release> = GATES.iter().filter(|row| row.gate == gate).map(|row| row.from).collect();
            assert!(!changes.is_empty() && changes.is_sorted(), "{gate:?}");
        }
    }

    #[test]
    fn gate_is_absent_on_the_patches_before_its_backport() {
        let stage = |minor, patch| Gate::WatchFromStorageWithoutResourceVersion.state(Release::new(minor, patch)).stage;
        assert_eq!(
            [stage(27, 12), stage(27, 13), stage(28, 8), stage(28, 9)],
            [GateStage::Absent, GateStage::Beta, GateStage::Absent, GateStage::Beta]
        );
    }

    #[test]
    fn gate_names_match_upstream_in_text_and_json() {
        for gate in Gate::ALL {
            assert_eq!(gate.as_str().parse(), Ok(gate));
            assert_eq!(serde_json::to_string(&gate).unwrap(), format!("\"{}\"", gate.as_str()));
        }
        assert_eq!("WatchBookmark".parse::<Gate>(), Err(UnknownGate));
    }
}
