//! The programs of Prometheus.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Write as _, stdout};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ports::Port;
use crate::programs;
use crate::scrape::{Scraped, Scraper};

/// A server that is not ready by then counts as hanging.
const LIMIT: Duration = Duration::from_mins(1);

/// A Prometheus that scrapes its targets and evaluates its rules each second. Dropping it kills the process.
#[derive(Debug)]
pub struct Prometheus {
    child: Child,
    port: Port,
    _folder: TempDir,
}

/// The labels of a series, with its name as `__name__`. Labels without a value do not exist.
pub type Labels = BTreeMap<String, String>;

/// A process that Prometheus scrapes.
#[derive(Clone, Debug)]
pub struct Target {
    /// The address of its metrics.
    pub address: SocketAddr,
    /// The pod that it runs in, which becomes the labels `pod` and `instance`. Without it, `instance` is the address.
    pub pod: Option<&'static str>,
}

/// A series in the result of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Empty for a number without labels.
    pub labels: Labels,
    /// Times in seconds since 1970, each with the number then. A query for one time returns one of them, except for a range vector.
    pub points: Vec<(f64, f64)>,
}

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
    /// Starts it with the rules and alerts of `deploy`, and waits until it is ready; `None`, with a message, if it is not installed.
    pub fn start(targets: &[Target]) -> Result<Option<Self>> {
        let Some(mut command) = program("prometheus")? else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        // YAML contains JSON.
        let file = folder.path().join("prometheus.yaml");
        fs::write(&file, configuration(targets).to_string())?;
        let port = Port::reserve()?;
        let child = command
            .arg(format!("--config.file={}", file.display()))
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

    /// The newest value of each series of the targets, without the labels that Prometheus adds, and without what rules record.
    pub fn newest(&self) -> Result<BTreeMap<Labels, f64>> {
        let series = self.query("{job=\"watchtap\", __name__!~\".*:.*|ALERTS.*\"}", now())?;
        let newest = series.into_iter().map(|mut one| {
            one.labels.retain(|name, _| !["job", "instance"].contains(&name.as_str()));
            Ok((one.labels, one.points.last().context("no value")?.1))
        });
        newest.collect()
    }

    /// The sum of a counter of Prometheus itself.
    pub fn own_count(&self, name: &str) -> Result<u64> {
        self.get("/metrics")?.count(name, "")
    }

    /// The result of a query at a time, which may be in the future: the last samples then count for five minutes.
    pub fn query(&self, query: &str, at: f64) -> Result<Vec<Series>> {
        series_of(&self.api("query", &[("query", query), ("time", &at.to_string())])?)
    }

    /// The results of a query at all full steps of one second between two times.
    pub fn query_each_second(&self, query: &str, from: f64, to: f64) -> Result<Vec<Series>> {
        let (from, to) = (from.to_string(), to.to_string());
        series_of(&self.api("query_range", &[("query", query), ("start", &from), ("end", &to), ("step", "1")])?)
    }

    /// The labels of all series that a selector matches and that had a sample between two times.
    pub fn labels_of(&self, selector: &str, from: f64, to: f64) -> Result<Vec<Labels>> {
        let (from, to) = (from.to_string(), to.to_string());
        let found = self.api("series", &[("match[]", selector), ("start", &from), ("end", &to)])?;
        found.as_array().context("no series")?.iter().map(labels_in).collect()
    }

    /// The expressions of the recording rules, by the name of the record.
    pub fn records(&self) -> Result<BTreeMap<String, String>> {
        let answer = self.api("rules", &[("type", "record")])?;
        let groups = answer["groups"].as_array().context("no groups")?;
        let rules = groups.iter().filter_map(|group| group["rules"].as_array()).flatten();
        let text = |rule: &Value, field: &str| rule[field].as_str().map(str::to_owned).context("no text");
        rules.map(|rule| Ok((text(rule, "name")?, text(rule, "query")?))).collect()
    }

    fn api(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Value> {
        let parameters: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let answer = self.get(&format!("/api/v1/{path}?{}", parameters.join("&")))?;
        ensure!(answer.status == 200, "{} for {parameters:?}", answer.text());
        Ok(serde_json::from_str::<Value>(&answer.text())?["data"].take())
    }

    /// By HTTP/1.0, so that the body is not chunked.
    fn get(&self, path: &str) -> Result<Scraped> {
        Scraper::at(self.address()).request(&format!("GET {path} HTTP/1.0\r\n\r\n"))
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port.number()).into()
    }
}

/// The present time, in seconds since 1970, as Prometheus counts it.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn configuration(targets: &[Target]) -> Value {
    let targets: Vec<Value> = targets
        .iter()
        .map(|target| {
            let labels = target.pod.map(|pod| json!({ "pod": pod })).unwrap_or_default();
            json!({ "targets": [target.address.to_string()], "labels": labels })
        })
        .collect();
    let instance = json!({ "source_labels": ["pod"], "regex": "(.+)", "target_label": "instance" });
    json!({
        "global": { "scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s" },
        "rule_files": [concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/chart/files/prometheus/*.yaml")],
        "scrape_configs": [{ "job_name": "watchtap", "static_configs": targets, "relabel_configs": [instance] }],
    })
}

fn series_of(data: &Value) -> Result<Vec<Series>> {
    let found = data["result"].as_array().with_context(|| format!("no result in {data}"))?;
    let point = |point: &Value| {
        let number = point[1].as_str().with_context(|| format!("no number in {point}"))?;
        Ok((point[0].as_f64().context("no time")?, number.parse()?))
    };
    let series = found.iter().map(|one| {
        let points = match one["values"].as_array() {
            Some(points) => points.iter().map(point).collect::<Result<_>>()?,
            None => vec![point(&one["value"])?],
        };
        Ok(Series { labels: labels_in(&one["metric"])?, points })
    });
    series.collect()
}

fn labels_in(labels: &Value) -> Result<Labels> {
    let labels = labels.as_object().context("no labels")?;
    Ok(labels.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned())).collect())
}

/// Percent-encodes everything but letters and digits.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(byte).collect()
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // The kill fails if it has already exited.
        let _outcome = self.child.kill();
        let _status = self.child.wait();
    }
}
