//! The probes on a client's functions during a measurement.

use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;

use super::bare::BareProbes;
use super::client::Client;
use crate::probe_process;
use crate::server_process::ServerProcess;

/// The probes under which a client runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// No probes.
    Unprobed,
    /// Uprobes that only count.
    Bare,
    /// watchtap, which follows connections to another server.
    Elsewhere,
    /// watchtap, which reads the client's plaintext.
    Read,
}

/// Attached probes; dropping the value detaches them.
pub(super) struct Standing {
    _bare: Option<BareProbes>,
    watchtap: Option<ServerProcess>,
}

/// Time for watchtap to read all records before its CPU time is read.
const SETTLE: Duration = Duration::from_millis(200);

impl Mode {
    pub(super) const ALL: [Self; 4] = [Self::Unprobed, Self::Bare, Self::Elsewhere, Self::Read];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unprobed => "unprobed",
            Self::Bare => "bare uprobes",
            Self::Elsewhere => "watchtap, another server",
            Self::Read => "watchtap",
        }
    }

    /// Attaches the probes; the server listens on `port`.
    pub(super) fn stand(self, client: &Client, port: u16, folder: &Path) -> Result<Standing> {
        Ok(match self {
            Self::Unprobed => Standing { _bare: None, watchtap: None },
            Self::Bare => Standing { _bare: Some(BareProbes::at(client.file(), client.places())?), watchtap: None },
            // No server listens on port 1.
            Self::Elsewhere => Standing::of_watchtap(1, folder)?,
            Self::Read => Standing::of_watchtap(port, folder)?,
        })
    }
}

impl Standing {
    /// A `watchtap probe` for the server on `port`.
    pub(super) fn of_watchtap(port: u16, folder: &Path) -> Result<Self> {
        let report = folder.join("report.json");
        let report = report.to_str().context("the folder has no name in UTF-8")?;
        let watchtap = probe_process::start(port, &["--format", "json", "--report", report], folder)?;
        Ok(Self { _bare: None, watchtap: Some(watchtap) })
    }

    /// Resident memory of watchtap without file-backed pages, in bytes. The ring buffer is memory of the kernel.
    pub(super) fn memory(&self) -> Result<u64> {
        self.watchtap.as_ref().map_or(Ok(0), ServerProcess::memory)
    }

    /// CPU time of watchtap so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        thread::sleep(SETTLE);
        self.watchtap.as_ref().map_or(Ok(Duration::ZERO), ServerProcess::cpu)
    }

    /// Detaches the probes; returns the bytes that watchtap reports as missed.
    pub(super) fn end(self, folder: &Path) -> Result<u64> {
        let Some(mut watchtap) = self.watchtap else { return Ok(0) };
        watchtap.stop()?;
        let report: Value = serde_json::from_slice(&std::fs::read(folder.join("report.json"))?)?;
        let missed = &report["missed"];
        Ok(missed["bytes"].as_u64().unwrap_or(0).max(missed["probe"]["bytes"].as_u64().unwrap_or(0)))
    }
}
