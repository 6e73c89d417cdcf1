//! Flags that describe the API server. They override everything that is learned.

use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::Args;
use observer_core::routing::{Basis, EtcdSupport, EtcdVersion, Gate, ServerProfile, ServerVersion};

/// The server profile, as far as flags give it.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ProfileFlags {
    /// The API server's version, such as 1.34.2 (patch levels differ: give one if you can)
    #[arg(long, value_name = "VERSION")]
    pub(super) server_version: Option<ServerVersion>,

    /// A feature gate of the API server that is not at its default; may be given several times
    #[arg(long = "gate", value_name = "NAME=true|false")]
    gates: Vec<GateFlag>,

    /// The version of its etcd, such as 3.5.10 (without it, etcd is assumed to answer progress requests)
    #[arg(long, value_name = "VERSION")]
    etcd_version: Option<EtcdVersion>,

    /// A resource without a watch cache, such as deployments.apps; may be given several times (events have none anyway)
    #[arg(long, value_name = "RESOURCE")]
    uncached: Vec<String>,

    /// An API group that an extension server serves; may be given several times
    #[arg(long, value_name = "GROUP")]
    aggregated: Vec<String>,
}

/// `NAME=true` or `NAME=false`.
#[derive(Clone, Copy, Debug)]
struct GateFlag {
    gate: Gate,
    on: bool,
}

impl FromStr for GateFlag {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, value) = text.split_once('=').context("a gate is given as NAME=true or NAME=false")?;
        let gate = name.parse::<Gate>().ok().with_context(|| {
            let known: Vec<&str> = Gate::ALL.iter().map(|gate| gate.as_str()).collect();
            format!("no rule depends on a gate `{name}`; those that matter are {}", known.join(", "))
        })?;
        let on = match value {
            "true" => true,
            "false" => false,
            other => bail!("a gate is true or false, not `{other}`"),
        };
        Ok(Self { gate, on })
    }
}

impl ProfileFlags {
    /// Replaces values of `profile` with those of the flags.
    pub(super) fn over(&self, mut profile: ServerProfile) -> ServerProfile {
        if let Some(version) = &self.server_version {
            profile.version = Some(version.clone());
            profile.provenance.version = Basis::Flag;
        }
        profile.gates.extend(self.gates.iter().map(|flag| (flag.gate, flag.on)));
        if let Some(version) = self.etcd_version {
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

    /// One sentence for each flag without effect on `profile`.
    pub(super) fn without_effect(profile: &ServerProfile) -> Vec<String> {
        let gates = profile.gates_without_effect();
        gates
            .into_iter()
            .map(|(gate, stage)| format!("--gate {} has no effect: in this version it is {stage}", gate.as_str()))
            .collect()
    }
}
