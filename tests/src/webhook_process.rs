//! A running `watchtap webhook`, with a certificate in files.

use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::bounded::{Lines, wait_within};
use crate::client::Client;
use crate::credentials;
use crate::loopback_tls::{ClientStream, connect};
use crate::process_usage::ProcessUsage;
use crate::scrape::Scraper;
use crate::watchtap::watchtap;

/// A longer wait for a line or for the exit counts as a hang.
const LIMIT: Duration = Duration::from_secs(30);

/// As the flag `--image` gives it.
pub const SIDECAR_IMAGE: &str = "localhost/watchtap:1";

/// Where it listens, and the names that its Service has.
const NAMES: [&str; 5] = ["127.0.0.1", "localhost", "watchtap.watchtap-system.svc", "watchtap.watchtap-system", "watchtap"];

/// Time between two questions whether it is ready.
const PAUSE: Duration = Duration::from_millis(20);

/// A webhook on loopback ports. Dropping it kills it.
#[derive(Debug)]
pub struct WebhookProcess {
    child: Child,
    said: Lines,
    authority: String,
    address: SocketAddr,
    scraper: Scraper,
    /// `tls.crt` and `tls.key`.
    folder: TempDir,
}

impl WebhookProcess {
    /// Starts a webhook on a free port.
    pub fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let authority = credentials::authority()?;
        let identity = credentials::server(&authority, "watchtap", &NAMES)?;
        fs::write(folder.path().join("tls.crt"), identity.certificate)?;
        fs::write(folder.path().join("tls.key"), identity.key)?;
        Self::start_with(folder, authority.pem(), SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// Kills the webhook, and starts another one with the same certificate on the same port.
    pub fn restart(mut self) -> Result<Self> {
        self.kill()?;
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir()?);
        Self::start_with(folder, self.authority.clone(), self.address)
    }

    fn start_with(folder: TempDir, authority: String, listen: SocketAddr) -> Result<Self> {
        let mut child = watchtap()?
            .args(["webhook", "--image", SIDECAR_IMAGE, "--service", "watchtap.watchtap-system", "--metrics", "127.0.0.1:0"])
            .arg("--listen")
            .arg(listen.to_string())
            .arg("--certificate")
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let said = Lines::of(child.stderr.take().context("standard error is a pipe")?, LIMIT);
        let mut output = String::new();
        while !output.contains("metrics: ") {
            let Some(line) = said.next_line()? else { bail!("the webhook ended and said: {output}") };
            output.push_str(&line);
            output.push('\n');
        }
        let address = output.split_once("admissions: https://").and_then(|(_, rest)| rest.split_once("/mutate"));
        let address = address.with_context(|| format!("no address in {output}"))?.0.parse()?;
        let started = Self { child, said, authority, address, scraper: Scraper::announced_in(&output)?, folder };
        started.await_ready()?;
        Ok(started)
    }

    /// Waits until it has its certificate.
    fn await_ready(&self) -> Result<()> {
        let begun = Instant::now();
        loop {
            let ready = self.scraper.get("/ready", "")?;
            if ready.status == 200 {
                return Ok(());
            }
            ensure!(begun.elapsed() < LIMIT, "the webhook is not ready: {}", ready.text());
            thread::sleep(PAUSE);
        }
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA of its certificate, PEM.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// `https://127.0.0.1:…/mutate`.
    pub fn url(&self) -> String {
        format!("https://{}/mutate", self.address)
    }

    /// A client with one connection per request.
    pub fn client(&self) -> Result<Client> {
        Client::of_server(&format!("https://{}", self.address), &self.authority, "none")
    }

    /// A TLS connection.
    pub fn connect(&self) -> Result<ClientStream> {
        connect(self.address, &self.authority, &[b"http/1.1"])
    }

    /// A scraper of its metrics, which also asks for `/ready`.
    pub const fn scraper(&self) -> Scraper {
        self.scraper
    }

    /// Its present memory and descriptors.
    pub fn usage(&self) -> Result<ProcessUsage> {
        ProcessUsage::of(self.child.id())
    }

    /// Reads standard error until a line has these words.
    pub fn await_line(&self, words: &str) -> Result<String> {
        while let Some(line) = self.said.next_line()? {
            if line.contains(words) {
                return Ok(line);
            }
        }
        bail!("the webhook ended without {words:?}")
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Waits for the exit after a signal, and fails unless it is a success.
    pub fn wait(&mut self) -> Result<()> {
        let status = wait_within(&mut self.child, LIMIT)?;
        ensure!(status.success(), "the webhook ended with {status}");
        Ok(())
    }

    /// Kills it with SIGKILL, as a crash would end it.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for WebhookProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
