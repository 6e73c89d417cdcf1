//! An OpenTelemetry Collector (`tests/cluster/go/collector`) that writes everything it receives to a file.

use std::fs;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::folders;
use crate::go_client::go_collector;
use crate::ports::Port;
use crate::process::{Process, Signal};

/// A collector that is not ready by then, or has not received something by then, counts as hanging.
const LIMIT: Duration = Duration::from_mins(2);

/// A running collector. Dropping it kills the process.
#[derive(Debug)]
pub struct OtelCollector {
    process: Process,
    url: String,
    file: PathBuf,
}

/// The OTLP requests that a collector has received, in order, in the JSON form of the protocol.
#[derive(Debug, Default)]
pub struct Collected(Vec<Value>);

impl OtelCollector {
    /// Builds a collector unless this machine has it, and starts it. Its files are `folder/name.*`. The build needs Go and takes
    /// one or two minutes.
    pub fn start(port: &Port, folder: &Path, name: &str) -> Result<Self> {
        let program = go_collector()?;
        let path = |extension: &str| folder.join(format!("{name}.{extension}"));
        let (configuration, file) = (path("yaml"), path("jsonl"));
        fs::write(&configuration, documented_configuration(port.number(), &file)?)?;
        let arguments = [configuration.display().to_string()];
        let mut process = Process::start("collector", &program, &arguments, path("log"))?;
        process.wait_until(LIMIT, || TcpStream::connect((Ipv4Addr::LOCALHOST, port.number())).is_ok())?;
        Ok(Self { process, url: format!("http://127.0.0.1:{}", port.number()), file })
    }

    /// The URL for `--otlp`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until it has received what fulfils a condition.
    pub fn wait_until(&mut self, condition: impl Fn(&Collected) -> bool) -> Result<()> {
        let file = &self.file;
        self.process.wait_until(LIMIT, || Collected::read(file).is_ok_and(|collected| condition(&collected)))
    }

    /// Kills it, as a crash does, and returns the requests that it had received.
    pub fn kill(self) -> Result<Collected> {
        self.end(Signal::Kill)
    }

    /// Ends it in an orderly manner, and returns the requests that it had received.
    pub fn stop(self) -> Result<Collected> {
        self.end(Signal::Terminate)
    }

    fn end(mut self, signal: Signal) -> Result<Collected> {
        self.process.signal(signal)?;
        self.process.wait(LIMIT)?;
        Collected::read(&self.file)
    }
}

impl Collected {
    /// Without a last line that is not complete: its request had no answer. A file that does not exist yet is empty.
    fn read(file: &Path) -> Result<Self> {
        let text = if file.exists() { fs::read_to_string(file)? } else { String::new() };
        let complete = text.rsplit_once('\n').map_or("", |(complete, _rest)| complete);
        Ok(Self(complete.lines().map(serde_json::from_str).collect::<Result<_, _>>()?))
    }

    /// The log records, by request.
    pub fn records(&self) -> Vec<Vec<Value>> {
        self.by_request("resourceLogs", "scopeLogs", "logRecords")
    }

    /// The metrics, by request.
    pub fn metrics(&self) -> Vec<Vec<Value>> {
        self.by_request("resourceMetrics", "scopeMetrics", "metrics")
    }

    /// The spans, by request.
    pub fn spans(&self) -> Vec<Vec<Value>> {
        self.by_request("resourceSpans", "scopeSpans", "spans")
    }

    /// The elements of a list in each request, such as `resourceLogs`: a resource, and what belongs to it.
    pub fn of_resources<'a>(&'a self, list: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter_map(move |request| request[list].as_array()).flatten()
    }

    fn by_request(&self, resources: &str, scopes: &str, items: &str) -> Vec<Vec<Value>> {
        let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
        let requests = self.0.iter().filter(|request| request.get(resources).is_some());
        let of_request = |request: &Value| {
            let scopes = list(request, resources).into_iter().flat_map(|resource| list(&resource, scopes)).collect::<Vec<_>>();
            scopes.iter().flat_map(|scope| list(scope, items)).collect()
        };
        requests.map(of_request).collect()
    }
}

/// The configuration of `docs/otlp.md`, with another port, and with a file instead of a log.
///
/// With a rotation, the exporter writes each request to the file before its answer, so a kill loses nothing that was taken.
fn documented_configuration(port: u16, file: &Path) -> Result<String> {
    let document = fs::read_to_string(folders::documents().join("otlp.md"))?;
    let (_before, block) = document.split_once("```yaml\nreceivers:").context("docs/otlp.md has no configuration")?;
    let (block, _after) = block.split_once("```").context("the configuration does not end")?;
    let mut configuration = format!("receivers:{block}");
    let to_file = format!("file:\n    path: {}\n    rotation: {{ max_megabytes: 1000 }}\n", file.display());
    for (documented, here) in [
        ("localhost:4318", format!("127.0.0.1:{port}").as_str()),
        ("debug:\n    verbosity: detailed\n", &to_file),
        ("[debug]", "[file]"),
    ] {
        ensure!(configuration.contains(documented), "the configuration in docs/otlp.md has no `{documented}`");
        configuration = configuration.replace(documented, here);
    }
    Ok(configuration)
}
