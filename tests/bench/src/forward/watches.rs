//! `watches`: the memory cost of an idle watch when there are thousands, each on its own connection or many on one.
//!
//! Each case has a fresh watchtap, because a process does not return memory that it has allocated.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;
use tokio::task::JoinSet;

use super::client::{Connection, Target, next};
use super::running::{Inputs, Open, Upstream};
use super::scenario::{Amounts, Http};
use super::stack::Stack;
use super::upstream::paths;
use super::way::Way;
use crate::credentials::Credentials;
use crate::machine::Machine;
use crate::output::Output;
use crate::table::Table;

/// Open thousands of idle watches through watchtap, and measure its memory
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    output: Output,
}

/// A number of watches and their distribution over connections.
#[derive(Clone, Copy, Debug, Serialize)]
struct Case {
    name: &'static str,
    http: Http,
    connections: u32,
    /// Watches per connection.
    each: u32,
}

/// The memory cost of one case.
#[derive(Debug, Serialize)]
struct Measured {
    case: Case,
    /// In bytes, in addition to watchtap's memory before the watches.
    observing_off: u64,
    observing_on: u64,
}

#[derive(Debug, Serialize)]
struct Report {
    cases: Vec<Measured>,
    machine: Machine,
}

/// The cases. With two descriptors per connection, they stay within the 20 000 that many systems allow per process.
const CASES: [Case; 3] = [
    Case { name: "9 000 watches on 9 000 connections, h1", http: Http::H1, connections: 9_000, each: 1 },
    Case { name: "9 000 watches on 9 000 connections, h2", http: Http::H2, connections: 9_000, each: 1 },
    Case { name: "10 000 watches on 100 connections, h2", http: Http::H2, connections: 100, each: 100 },
];
/// Divisor of the number of connections with `--smoke`.
const SMOKE: u32 = 50;
/// Limit in bytes for a watch with its own connection.
const BUDGET: u64 = 32 << 10;
/// Number of connections opened at once. With more, the result would include handshakes, each of which needs much memory for a
/// short time.
const OPENERS: u32 = 8;
/// Pause before memory is read.
const REST: Duration = Duration::from_secs(2);

/// Runs all measurements and writes the report.
pub(crate) fn execute(args: &Args) -> Result<()> {
    let output = &args.output;
    let machine = Machine::now();
    allow_many_descriptors()?;
    let folder = tempfile::tempdir().context("no private folder for this run")?;
    let credentials = Credentials::generate(folder.path())?;
    let amounts = if output.smoke { Amounts::SMOKE } else { Amounts::FULL };
    let place = Inputs { folder: folder.path().to_path_buf(), credentials, amounts, go: None };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut cases = Vec::new();
    for case in CASES {
        let case = if output.smoke { Case { connections: case.connections.div_ceil(SMOKE), ..case } } else { case };
        let measure = |way: Way| {
            output.progress(&format!("{}, {}", case.name, way.name()));
            runtime.block_on(memory(case, way, &place)).with_context(|| format!("{}, {}", case.name, way.name()))
        };
        cases.push(Measured { case, observing_off: measure(Way::WatchtapOff)?, observing_on: measure(Way::WatchtapOn)? });
    }
    let report = Report { cases, machine };
    output.write("watches", &report, &report.to_markdown())
}

/// Raises the descriptor limit for the clients' ends in this process. The server process, which has as many, inherits the limit.
fn allow_many_descriptors() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).context("the limit of descriptors cannot be raised")
}

/// The proxy's additional memory with the watches of `case`, in bytes.
async fn memory(case: Case, way: Way, place: &Inputs) -> Result<u64> {
    let upstream = Upstream::start(Stack::Hyper, case.http, place)?;
    let open = Open::start(way, &upstream, place)?;
    let target = open.target()?;
    target.connect().await?.drain(paths::SMALL).await?;
    tokio::time::sleep(REST).await;
    let before = open.memory()?;
    let connections = all_watches(case, &target).await?;
    tokio::time::sleep(REST).await;
    let more = open.memory()?.saturating_sub(before);
    drop(connections);
    let missed = open.stop(place)?;
    ensure!(missed.connections == 0, "{} connections were not observed", missed.connections);
    Ok(more)
}

/// Opens the watches of `case`; they end when the result is dropped.
async fn all_watches(case: Case, target: &Target) -> Result<Vec<Connection>> {
    let mut openers = JoinSet::new();
    for opener in 0..OPENERS {
        let target = target.clone();
        openers.spawn(async move {
            let mut connections = Vec::new();
            for _ in (opener..case.connections).step_by(OPENERS as usize) {
                connections.push(watches(&target, case.each).await?);
            }
            anyhow::Ok(connections)
        });
    }
    let mut connections = Vec::new();
    while let Some(opened) = openers.join_next().await {
        connections.append(&mut opened.context("an opener failed")??);
    }
    Ok(connections)
}

/// A connection with `each` watches, each with its first event received, and then silence.
async fn watches(target: &Target, each: u32) -> Result<Connection> {
    let mut connection = target.connect().await?;
    for _ in 0..each {
        let mut body = connection.get(paths::IDLE).await?;
        next(&mut body).await?.context("the watch ended")?;
        // Dropping the body would end the watch; it ends with its connection.
        tokio::spawn(async move { while matches!(rest(&mut body).await, Some(Ok(_))) {} });
    }
    Ok(connection)
}

/// The next frame of a body, without a time limit.
async fn rest(body: &mut hyper::body::Incoming) -> Option<hyper::Result<hyper::body::Frame<bytes::Bytes>>> {
    use http_body_util::BodyExt;
    body.frame().await
}

impl Measured {
    fn each(&self, bytes: u64) -> u64 {
        bytes / u64::from(self.case.connections * self.case.each)
    }

    fn is_within_budget(&self) -> bool {
        self.each(self.observing_on) <= BUDGET
    }
}

impl Report {
    fn to_markdown(&self) -> String {
        let mut table =
            Table::new(["Watches", "observing off, KiB a watch", "observing on, KiB a watch", "observing on, MiB in all"]);
        for measured in &self.cases {
            let each = |bytes| kibibytes(measured.each(bytes));
            let all = format!("{}", measured.observing_on >> 20);
            table.row([measured.case.name.to_owned(), each(measured.observing_off), each(measured.observing_on), all]);
        }
        let kept = self.cases.iter().filter(|measured| measured.is_within_budget()).count();
        format!(
            "{}\nBudget: {} KiB a watch with observing on, TLS on both sides included; kept by {kept} of {}. {}\n",
            table.to_markdown(),
            BUDGET >> 10,
            self.cases.len(),
            self.machine
        )
    }
}

/// In KiB, with one decimal.
fn kibibytes(bytes: u64) -> String {
    let tenths = (bytes * 10 + 512) >> 10;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::kibibytes;

    #[test]
    fn kibibytes_are_printed_with_one_decimal() {
        assert_eq!([0, 1024, 25_703, 32 << 10].map(kibibytes), ["0.0", "1.0", "25.1", "32.0"]);
    }
}
