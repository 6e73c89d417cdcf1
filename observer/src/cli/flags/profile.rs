//! Flags that describe the API server. They override everything that is learned.

use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::Args;
use observer_core::routing::{EtcdVersion, Gate, ServerVersion};

use crate::api_server::{ProfileOverrides, ProfileSource};

/// The server profile, as far as flags give it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProfileFlags {
    /// The API server's version, such as 1.34.2 (include the patch version if you can: some rules changed in patch releases)
    #[arg(long, value_name = "VERSION")]
    server_version: Option<ServerVersion>,

    /// A feature gate of the API server that is not at its default; may be given several times
    #[arg(long = "gate", value_name = "NAME=true|false")]
    gates: Vec<GateFlag>,

    /// The version of the API server's etcd, such as 3.5.10 (if omitted, etcd is assumed to support progress requests)
    #[arg(long, value_name = "VERSION")]
    etcd_version: Option<EtcdVersion>,

    /// A resource whose watch cache is disabled on this API server, such as deployments.apps; may be given several times (events
    /// have no watch cache by default)
    #[arg(long, value_name = "RESOURCE")]
    uncached: Vec<String>,

    /// An API group that an extension API server serves; may be given several times
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
        let (name, value) = text.split_once('=').context("expected NAME=true or NAME=false")?;
        let gate = name.parse::<Gate>().ok().with_context(|| {
            let known: Vec<&str> = Gate::ALL.iter().map(|gate| gate.as_str()).collect();
            format!("no rule depends on a gate `{name}`; use one of {}", known.join(", "))
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
    /// The values that they give.
    pub(crate) fn overrides(&self) -> ProfileOverrides {
        ProfileOverrides {
            version: self.server_version.clone(),
            gates: self.gates.iter().map(|flag| (flag.gate, flag.on)).collect(),
            etcd: self.etcd_version,
            uncached: self.uncached.clone(),
            aggregated: self.aggregated.clone(),
        }
    }
}

/// Flags for server profiles, and for the requests that learn them. They apply to all API servers.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ProfileSourceFlags {
    #[command(flatten)]
    flags: ProfileFlags,

    /// Request neither /version nor /metrics. Every verdict is then unknown, unless --server-version is given;
    /// --server-version alone avoids both requests, too
    #[arg(long)]
    no_version_request: bool,

    /// Do not request /metrics, which reports feature gates and watch caches; their defaults are then assumed
    #[arg(long)]
    no_metrics_request: bool,
}

impl ProfileSourceFlags {
    /// How the server profiles of this run are found.
    pub(crate) fn source(&self) -> ProfileSource {
        ProfileSource {
            overrides: self.flags.overrides(),
            asks_version: !self.no_version_request,
            asks_metrics: !self.no_metrics_request,
        }
    }
}
