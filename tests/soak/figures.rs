//! Results of a run, with checks that its numbers add up.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{Carried, ProcessUsage, Tally, output_within, soak_folder, watchtap};
use serde_json::{Value, json};

use super::fault::Fault;
use super::testbed::{Remains, Testbed};

/// Counters that a report contains only if they are not 0.
const SHOWN_IF_ANY: [&str; 3] = ["connections_forgotten", "notices", "upstreams_dropped"];

/// Findings that no fault of the soak causes: its clients behave well, and each fault ends within seconds.
const FALSE_ALARMS: [&str; 9] = [
    "deaf-watch",
    "watch-ahead-of-server",
    "expired-loop",
    "silent-expired",
    "no-resume",
    "full-state-by-watch",
    "get-poller",
    "older-state",
    "many-watches",
];

/// Results of one run.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    seed: u64,
    pub(crate) lasted: Duration,
    /// Growth of resident memory from the first to the last third, in bytes.
    pub(crate) rise: u64,
    /// Number of writes during the run.
    pub(crate) changes: u64,
    faults: BTreeMap<String, u64>,
    /// Maximum resident memory at the end of a round, in bytes.
    most_memory: u64,
    tally: Tally,
    report: Value,
}

impl Figures {
    pub(crate) fn of(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    pub(crate) fn happened(&mut self, fault: Fault) {
        *self.faults.entry(fault.to_string()).or_default() += 1;
    }

    /// Number of faults so far.
    pub(crate) fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    pub(crate) fn note_usage(&mut self, usage: ProcessUsage) {
        self.most_memory = self.most_memory.max(usage.resident);
    }

    /// Stops everything, and compares watchtap's report with the counts of the hops.
    pub(crate) fn finish(&mut self, testbed: Testbed) -> Result<()> {
        const LIMIT: Duration = Duration::from_mins(10);
        // The hops are dropped with the testbed; their counts are complete once no connection is open.
        let (tally, remains) = testbed.finish()?;
        let Remains { report, ends, capture, .. } = &remains;
        (self.tally, self.report) = (tally, report.clone());
        self.bytes_add_up()?;
        let totals = &report["totals"];
        ensure!(totals["open"] == 0, "requests are open without a connection: {totals}");
        let dropped = number(&report["missed"]["exchanges_dropped"])?;
        ensure!(number(&totals["requests"])? == ends + dropped, "{ends} ends were reported, {dropped} dropped: {totals}");
        for counter in ["decoder_failures", "connections", "unknown_observations"] {
            ensure!(number(&report["missed"][counter])? == 0, "{counter}: {}", report["missed"]);
        }
        for counter in SHOWN_IF_ANY {
            ensure!(report["missed"][counter].is_null(), "{counter}: {}", report["missed"]);
        }
        let is_false = |finding: &&Value| finding["kind"].as_str().is_none_or(|kind| FALSE_ALARMS.contains(&kind));
        let false_alarms: Vec<&Value> = self.findings().filter(is_false).collect();
        ensure!(false_alarms.is_empty(), "false alarms: {false_alarms:?}");
        ensure!(number(&report["missed"]["bytes"])? > 0, "what may wait to be observed was never full");
        let replay = output_within(watchtap()?.args(["read", "--format", "json"]).arg(capture), LIMIT)?;
        let replayed: Value = serde_json::from_slice(&replay.stdout).context("the replay is no JSON")?;
        ensure!(replayed["totals"] == *totals, "the capture says {}, the run said {totals}", replayed["totals"]);
        Ok(())
    }

    fn findings(&self) -> impl Iterator<Item = &Value> {
        self.report["findings"].as_array().into_iter().flatten()
    }

    /// watchtap must have forwarded at least the bytes that one hop received, and at most those that the other sent. The rest was
    /// in flight when a connection broke. Every forwarded byte is either observed or counted as missed.
    fn bytes_add_up(&self) -> Result<()> {
        let (totals, missed) = (&self.report["totals"], number(&self.report["missed"]["bytes"])?);
        let mut lacking = 0;
        for (direction, Carried { given, gotten }) in [("request", self.tally.request), ("response", self.tally.response)] {
            let forwarded = number(&totals["forwarded"][direction])?;
            ensure!((gotten..=given).contains(&forwarded), "{direction}: {forwarded} forwarded, {given} given, {gotten} gotten");
            lacking += forwarded - number(&totals["observed"][direction])?;
        }
        ensure!(lacking == missed, "{lacking} bytes were not observed, {missed} are said to be missed");
        Ok(())
    }

    /// Writes the results for `cargo xtask soak --json`.
    pub(crate) fn write(&self) -> Result<()> {
        let folder = soak_folder();
        std::fs::create_dir_all(&folder)?;
        Ok(std::fs::write(folder.join("figures.json"), format!("{:#}\n", self.json()))?)
    }

    fn json(&self) -> Value {
        let carried = |Carried { given, gotten }: Carried| json!({"given": given, "gotten": gotten});
        json!({
            "seed": self.seed, "seconds": self.lasted.as_secs(), "faults": self.faults, "changes": self.changes,
            "connections": self.tally.connections, "whole": self.tally.whole,
            "requests": carried(self.tally.request), "responses": carried(self.tally.response),
            "totals": self.report["totals"], "missed": self.report["missed"],
            "findings": self.findings().map(|finding| &finding["id"]).collect::<Vec<_>>(),
            "memory": {"most": self.most_memory, "rise": self.rise},
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (totals, missed) = (&self.report["totals"], &self.report["missed"]);
        writeln!(formatter, "{} faults in {} s, seed {}:", self.faults(), self.lasted.as_secs(), self.seed)?;
        for (fault, times) in &self.faults {
            writeln!(formatter, "  {times:>5}  {fault}")?;
        }
        let Tally { connections, whole, request, response, .. } = &self.tally;
        writeln!(formatter, "{} objects written meanwhile", self.changes)?;
        writeln!(formatter, "{connections} connections; of {whole} everything that was given came")?;
        for (what, Carried { given, gotten }, direction) in [("requests", request, "request"), ("responses", response, "response")]
        {
            let forwarded = &totals["forwarded"][direction];
            writeln!(formatter, "{what}: {given} bytes in, {forwarded} forwarded, {gotten} out, none of them another")?;
        }
        writeln!(
            formatter,
            "{} requests observed; {} bytes missed, {} malformed",
            totals["requests"], missed["bytes"], missed["malformed"]
        )?;
        writeln!(formatter, "memory: {} KiB at most, risen by {} KiB", self.most_memory >> 10, self.rise >> 10)?;
        let kinds: BTreeSet<&str> = self.findings().filter_map(|finding| finding["kind"].as_str()).collect();
        write!(formatter, "findings: {}", kinds.into_iter().collect::<Vec<_>>().join(", "))
    }
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().with_context(|| format!("not a number: {value}"))
}
