//! What stands on the places that a client passes.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::Value;

use super::bare::BareProbes;
use super::client::Client;
use crate::server_process::ServerProcess;

/// A way to run a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Nothing stands there.
    Unprobed,
    /// Uprobes that count.
    Bare,
    /// watchtap, which looks for another server.
    Elsewhere,
    /// watchtap, which reads what is said.
    Read,
}

/// It, while it stands there.
pub(super) struct Standing {
    _bare: Option<BareProbes>,
    watchtap: Option<ServerProcess>,
}

const START: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(20);
/// How long what was recorded may take to be read, before CPU time is.
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

    /// Puts it there; the server listens on `port`.
    pub(super) fn stand(self, client: &Client, port: u16, folder: &Path) -> Result<Standing> {
        Ok(match self {
            Self::Unprobed => Standing { _bare: None, watchtap: None },
            Self::Bare => Standing { _bare: Some(BareProbes::at(client.file(), client.places())?), watchtap: None },
            // Nobody listens there.
            Self::Elsewhere => Standing { _bare: None, watchtap: Some(probe(1, folder)?) },
            Self::Read => Standing { _bare: None, watchtap: Some(probe(port, folder)?) },
        })
    }
}

impl Standing {
    /// CPU time of watchtap so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        thread::sleep(SETTLE);
        self.watchtap.as_ref().map_or(Ok(Duration::ZERO), ServerProcess::cpu)
    }

    /// Takes it away; bytes that watchtap says it missed.
    pub(super) fn end(self, folder: &Path) -> Result<u64> {
        let Some(mut watchtap) = self.watchtap else { return Ok(0) };
        watchtap.stop()?;
        let report: Value = serde_json::from_slice(&std::fs::read(folder.join("report.json"))?)?;
        let missed = &report["missed"];
        Ok(missed["bytes"].as_u64().unwrap_or(0).max(missed["probe"]["bytes"].as_u64().unwrap_or(0)))
    }
}

fn probe(port: u16, folder: &Path) -> Result<ServerProcess> {
    let mut command = Command::new(std::env::current_exe()?.with_file_name("watchtap"));
    command.args(["probe", "--quiet", "--no-version-request", "--calls-per-second", "0", "--format", "json", "--report"]);
    command.arg(folder.join("report.json")).args(["--api-server", &format!("127.0.0.1:{port}")]);
    let watchtap = ServerProcess::start("probe", &command, folder)?;
    let begun = Instant::now();
    while !watchtap.log().contains("ctrl-C ends") {
        if begun.elapsed() > START {
            bail!("{}", watchtap.log());
        }
        thread::sleep(PAUSE);
    }
    Ok(watchtap)
}
