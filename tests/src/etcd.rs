//! One etcd without fsync, for speed.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::client::Client;
use crate::ports::Port;
use crate::process::{Process, Signal};
use crate::run_folder::RunFolder;

const READY_WITHIN: Duration = Duration::from_mins(1);
const STOPPED_WITHIN: Duration = Duration::from_secs(30);

/// A running etcd.
#[derive(Debug)]
pub(crate) struct Etcd {
    process: Process,
    binary: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    url: String,
    client: Client,
    /// The client port and the peer port.
    ports: [Port; 2],
}

impl Etcd {
    pub(crate) fn start(binary: &Path, folder: &RunFolder, more_arguments: &[String]) -> Result<Self> {
        let (clients, peers) = (Port::reserve()?, Port::reserve()?);
        let url = format!("http://127.0.0.1:{}", clients.number());
        let peer_url = format!("http://127.0.0.1:{}", peers.number());
        let mut arguments = vec![
            format!("--data-dir={}", data(folder.path()).display()),
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            format!("--listen-peer-urls={peer_url}"),
            format!("--initial-advertise-peer-urls={peer_url}"),
            format!("--initial-cluster=default={peer_url}"),
            "--unsafe-no-fsync".to_owned(),
        ];
        arguments.extend_from_slice(more_arguments);
        let client = Client::plain(&url)?;
        let process = started(binary, &arguments, folder.path(), &client)?;
        let (binary, folder) = (binary.to_owned(), folder.path().to_owned());
        Ok(Self { process, binary, arguments, folder, url, client, ports: [clients, peers] })
    }

    /// Stops etcd, copies its data, and restarts it.
    pub(crate) fn back_up(&mut self) -> Result<()> {
        self.while_stopped(|folder| copy_folder(&data(folder), &backup(folder)))
    }

    /// Stops etcd, replaces its data with the copy, and restarts it.
    pub(crate) fn restore(&mut self) -> Result<()> {
        self.while_stopped(|folder| {
            fs::remove_dir_all(data(folder))?;
            copy_folder(&backup(folder), &data(folder))
        })
    }

    fn while_stopped(&mut self, work: impl Fn(&Path) -> Result<()>) -> Result<()> {
        self.process.signal(Signal::Terminate)?;
        self.process.wait(STOPPED_WITHIN)?;
        work(&self.folder)?;
        self.process = started(&self.binary, &self.arguments, &self.folder, &self.client)?;
        Ok(())
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.ports[0].number()).into()
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        self.process.signal(signal)
    }

    /// The current revision.
    pub(crate) fn revision(&self) -> Result<u64> {
        revision(&self.call("kv/range", &json!({"key": encoded("none")}))?)
    }

    /// Writes a key and returns the revision of the write.
    pub(crate) fn put(&self, key: &str, value: &str) -> Result<u64> {
        revision(&self.call("kv/put", &json!({"key": encoded(key), "value": encoded(value)}))?)
    }

    /// Compacts all revisions before `revision`.
    pub(crate) fn compact(&self, revision: u64) -> Result<()> {
        self.call("kv/compaction", &json!({"revision": revision.to_string(), "physical": true})).map(drop)
    }

    /// Calls the gRPC gateway, which encodes bytes as base64 and 64-bit numbers as text.
    fn call(&self, method: &str, request: &Value) -> Result<Value> {
        self.client.post(&format!("/v3/{method}"), request)?.success()?.json()
    }
}

fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

fn revision(answer: &Value) -> Result<u64> {
    let revision = answer["header"]["revision"].as_str().with_context(|| format!("etcd told no revision: {answer}"))?;
    Ok(revision.parse()?)
}

/// Path of etcd's log.
pub(crate) fn log(folder: &Path) -> PathBuf {
    folder.join("etcd.log")
}

/// etcd's data folder.
fn data(folder: &Path) -> PathBuf {
    folder.join("etcd")
}

fn backup(folder: &Path) -> PathBuf {
    folder.join("etcd-backup")
}

fn started(binary: &Path, arguments: &[String], folder: &Path, client: &Client) -> Result<Process> {
    let mut process = Process::start("etcd", binary, arguments, log(folder))?;
    process.wait_until(READY_WITHIN, || client.get("/health").is_ok())?;
    Ok(process)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
