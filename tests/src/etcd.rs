//! One etcd, quick and forgetful: it does not wait for the disk.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::client::Client;
use crate::ports::Port;
use crate::process::Process;
use crate::run_folder::RunFolder;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// A running etcd.
#[derive(Debug)]
pub(crate) struct Etcd {
    process: Process,
    url: String,
    _ports: [Port; 2],
}

impl Etcd {
    pub(crate) fn start(binary: &Path, folder: &RunFolder) -> Result<Self> {
        let (clients, peers) = (Port::reserve()?, Port::reserve()?);
        let url = format!("http://127.0.0.1:{}", clients.number());
        let peer_url = format!("http://127.0.0.1:{}", peers.number());
        let arguments = [
            format!("--data-dir={}", folder.path().join("etcd").display()),
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            format!("--listen-peer-urls={peer_url}"),
            format!("--initial-advertise-peer-urls={peer_url}"),
            format!("--initial-cluster=default={peer_url}"),
            "--unsafe-no-fsync".to_owned(),
        ];
        let log = folder.path().join("etcd.log");
        let mut process = Process::start("etcd", binary, &arguments, log)?;
        let client = Client::plain(&url)?;
        process.wait_until(READY_WITHIN, || client.get("/health").is_ok())?;
        Ok(Self { process, url, _ports: [clients, peers] })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }
}
