//! The programs of Prometheus.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write as _, stdout};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::ports::Port;
use crate::programs;
use crate::scrape::{Scraped, Scraper};

/// A server that is not ready by then counts as hanging.
const LIMIT: Duration = Duration::from_mins(1);

/// A Prometheus that scrapes one target each second. Dropping it kills the process.
#[derive(Debug)]
pub struct Prometheus {
    child: Child,
    port: Port,
    _folder: TempDir,
}

/// The labels of a series, with its name as `__name__`. Labels without a value do not exist.
pub type Labels = BTreeMap<String, String>;

/// A command for promtool, to which its arguments are added; `None`, with a message, if it is not installed.
pub fn promtool() -> Result<Option<Command>> {
    program("promtool")
}

fn program(name: &str) -> Result<Option<Command>> {
    let found = programs::find(name);
    if found.is_none() {
        writeln!(stdout().lock(), "left out: this needs `{name}`, of Debian's package `prometheus`")?;
    }
    Ok(found.map(Command::new))
}

impl Prometheus {
    /// Starts it, and waits until it is ready; `None`, with a message, if it is not installed.
    pub fn start(target: SocketAddr) -> Result<Option<Self>> {
        let Some(mut command) = program("prometheus")? else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        let configuration = folder.path().join("prometheus.yaml");
        fs::write(
            &configuration,
            format!(
                "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
                 scrape_configs: [{{job_name: watchtap, static_configs: [{{targets: [\"{target}\"]}}]}}]\n"
            ),
        )?;
        let port = Port::reserve()?;
        let child = command
            .arg(format!("--config.file={}", configuration.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{}", port.number()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.path().join("log"))?)
            .spawn()?;
        let mut started = Self { child, port, _folder: folder };
        let until = Instant::now() + LIMIT;
        while !started.get("/-/ready").is_ok_and(|ready| ready.status == 200) {
            ensure!(started.child.try_wait()?.is_none() && Instant::now() < until, "Prometheus did not start");
            std::thread::yield_now();
        }
        Ok(Some(started))
    }

    /// The newest value of each series of the target, without the labels that Prometheus adds.
    pub fn newest(&self) -> Result<BTreeMap<Labels, f64>> {
        let answer = self.query("%7Bjob=%22watchtap%22%7D")?;
        let found = answer["data"]["result"].as_array().context("no result")?;
        let series = found.iter().map(|one| {
            let labels = one["metric"].as_object().context("no labels")?;
            let labels = labels.iter().filter(|(name, _)| !["job", "instance"].contains(&name.as_str()));
            let labels = labels.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
            Ok((labels.collect(), one["value"][1].as_str().context("no value")?.parse()?))
        });
        series.collect()
    }

    /// The sum of a counter of Prometheus itself.
    pub fn own_count(&self, name: &str) -> Result<u64> {
        self.get("/metrics")?.count(name, "")
    }

    fn query(&self, query: &str) -> Result<Value> {
        let answer = self.get(&format!("/api/v1/query?query={query}"))?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(serde_json::from_str(&answer.text())?)
    }

    /// By HTTP/1.0, so that the body is not chunked.
    fn get(&self, path: &str) -> Result<Scraped> {
        Scraper::at(self.address()).request(&format!("GET {path} HTTP/1.0\r\n\r\n"))
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port.number()).into()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // The kill fails if it has already exited.
        let _outcome = self.child.kill();
        let _status = self.child.wait();
    }
}
