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
    /// [`Mode::Elsewhere`] as on kernels from 5.15 to 6.5: with a perf event for each place.
    ElsewhereByEvents,
    /// [`Mode::Read`] in the same way.
    ReadByEvents,
}

/// Attached probes; dropping the value detaches them.
pub(super) struct Standing {
    _bare: Option<BareProbes>,
    watchtap: Option<ServerProcess>,
}

/// A port on which no server listens.
const NO_SERVER: u16 = 1;
/// The fallback of kernels without `uprobe_multi` links.
const BY_EVENTS: [&str; 2] = ["--attach-by", "event-links"];

/// Time for watchtap to read all records before its CPU time is read.
const SETTLE: Duration = Duration::from_millis(200);

impl Mode {
    pub(super) const ALL: [Self; 6] =
        [Self::Unprobed, Self::Bare, Self::Elsewhere, Self::Read, Self::ElsewhereByEvents, Self::ReadByEvents];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unprobed => "unprobed",
            Self::Bare => "bare uprobes",
            Self::Elsewhere => "watchtap, another server",
            Self::Read => "watchtap",
            Self::ElsewhereByEvents => "watchtap, another server, by events",
            Self::ReadByEvents => "watchtap, by events",
        }
    }

    /// Whether the probes are those of watchtap.
    pub(super) fn is_of_watchtap(self) -> bool {
        !matches!(self, Self::Unprobed | Self::Bare)
    }

    /// Attaches the probes; the server listens on `port`.
    pub(super) fn stand(self, client: &Client, port: u16, folder: &Path) -> Result<Standing> {
        Ok(match self {
            Self::Unprobed => Standing { _bare: None, watchtap: None },
            Self::Bare => Standing { _bare: Some(BareProbes::at(client.file(), client.places())?), watchtap: None },
            Self::Elsewhere => Standing::of_watchtap(NO_SERVER, &[], folder)?,
            Self::Read => Standing::of_watchtap(port, &[], folder)?,
            Self::ElsewhereByEvents => Standing::of_watchtap(NO_SERVER, &BY_EVENTS, folder)?,
            Self::ReadByEvents => Standing::of_watchtap(port, &BY_EVENTS, folder)?,
        })
    }
}

impl Standing {
    /// A `watchtap probe` for the server on `port`, with further flags.
    pub(super) fn of_watchtap(port: u16, flags: &[&str], folder: &Path) -> Result<Self> {
        let report = folder.join("report.json");
        let report = report.to_str().context("the folder has no name in UTF-8")?;
        let flags = [&["--format", "json", "--report", report], flags].concat();
        let watchtap = probe_process::start(port, &flags, folder)?;
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
