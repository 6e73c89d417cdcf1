//! Reports as JSON.

use observer_core::observer::{Comparison, Snapshot};
use serde::Serialize;

use super::log::LogJson;
use super::run::{BudgetKept, Run};
use crate::printable::{Printable, json};

/// Schema in the first line of `--events`.
pub const EVENTS_SCHEMA: &str = "watchtap.events/v1";
/// Schema of `--format json` reports.
pub const REPORT_SCHEMA: &str = "watchtap.report/v1";
/// Schema of `read --against --format json`.
pub const COMPARISON_SCHEMA: &str = "watchtap.comparison/v1";
/// Schema of `explain --format json`.
pub const EXPLAIN_SCHEMA: &str = "watchtap.explain/v1";

#[derive(Serialize)]
struct Report<'r> {
    schema: &'static str,
    watchtap: &'static str,
    command: &'r [String],
    exit_code: Option<i32>,
    notes: &'r [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogJson<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<&'r BudgetKept>,
    #[serde(flatten)]
    snapshot: &'r Snapshot,
}

/// The complete report as one JSON object.
pub fn report_json(run: &Run, snapshot: &Snapshot) -> serde_json::Result<Printable> {
    let report = Report {
        schema: REPORT_SCHEMA,
        watchtap: env!("CARGO_PKG_VERSION"),
        command: &run.command,
        exit_code: run.exit_code,
        notes: &run.notes,
        log: run.log.as_ref().map(|log| LogJson::of(log, snapshot)),
        budget: run.budget.as_ref(),
        snapshot,
    };
    json(&report)
}

#[derive(Serialize)]
struct Compared<'c> {
    schema: &'static str,
    watchtap: &'static str,
    names: [&'c str; 2],
    notes: &'c [String],
    #[serde(flatten)]
    comparison: &'c Comparison,
}

/// A comparison as one JSON object; `names` are the names of the first and the second run.
pub fn comparison_json(names: [&str; 2], notes: &[String], comparison: &Comparison) -> serde_json::Result<Printable> {
    let compared = Compared { schema: COMPARISON_SCHEMA, watchtap: env!("CARGO_PKG_VERSION"), names, notes, comparison };
    json(&compared)
}
