//! Flags for the budget of a run.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use observer_core::observer::{Budget, Quantity, Usage};
use serde_json::error::Category;

use crate::cli::output::create;
use crate::cli::recording::Beside;
use crate::pipeline::Outcome;
use crate::printable::{Printer, json};
use crate::view::BudgetKept;

/// Longest budget file that is read, in bytes.
const MAX_BUDGET: u64 = 1 << 20;

/// Flags for the budget of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct BudgetFlags {
    /// Fail with exit code 124 if the run costs more than this file allows (docs/budget.md)
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// Write a budget from the cost of this run, with 10 % headroom for objects and bytes
    #[arg(long, value_name = "FILE")]
    write_budget: Option<PathBuf>,
}

/// Files that were read and opened before the run.
#[derive(Debug)]
pub(crate) struct BudgetFiles {
    budget: Option<Budget>,
    write: Option<Printer<File>>,
}

impl BudgetFlags {
    /// Reads and opens the files now, so that a wrong one fails before anything runs.
    pub(crate) fn open(&self) -> Result<BudgetFiles> {
        let budget = self.budget.as_deref().map(read).transpose()?;
        let write = self.write_budget.as_deref().map(create).transpose()?;
        Ok(BudgetFiles { budget, write })
    }

    /// The file to read and the file to write, each with its flag.
    pub(crate) fn files(&self) -> Beside<'_> {
        let read = self.budget.as_deref().map(|file| ("--budget", file));
        let written = self.write_budget.as_deref().map(|file| ("--write-budget", file));
        Beside { read, written, output: None }
    }
}

impl BudgetFiles {
    /// Judges a run, and writes the budget that it just keeps. Fails if the run was not observed to its end.
    pub(crate) fn judge(self, outcome: &Outcome) -> Result<Option<BudgetKept>> {
        let is_asked = self.budget.is_some() || self.write.is_some();
        ensure!(outcome.is_complete || !is_asked, "observing failed, so the cost of the run is unknown");
        let usage = Usage::of(&outcome.snapshot);
        if let Some(mut file) = self.write {
            let text = json(&Budget::just_kept_by(&usage))?;
            file.print(&text).context("cannot write the budget")?;
        }
        let kept = |budget: Budget| BudgetKept { exceeded: budget.exceeded_by(&usage), at_least: usage.at_least };
        Ok(self.budget.map(kept))
    }
}

/// The position of an error, and the values allowed there. It never quotes the file, which may be a secret taken for a budget.
fn description(error: &serde_json::Error) -> String {
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Data => {
            let limits: Vec<String> = Quantity::ALL.iter().filter_map(|quantity| serde_json::to_string(quantity).ok()).collect();
            let limits = limits.join(", ").replace('"', "");
            format!(
                "{place} has an unexpected key or value. Allowed are schema, total, resources and other_resources; within the \
                 last three: {limits}, each an integer (docs/budget.md)"
            )
        }
        Category::Syntax | Category::Eof | Category::Io => {
            format!("{place} is not JSON; --write-budget creates a budget from a run (docs/budget.md)")
        }
    }
}

fn read(path: &Path) -> Result<Budget> {
    let shown = path.display();
    let mut text = String::new();
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    file.take(MAX_BUDGET + 1).read_to_string(&mut text).with_context(|| format!("cannot read {shown}"))?;
    ensure!(text.len() as u64 <= MAX_BUDGET, "{shown} is longer than a budget can be ({MAX_BUDGET} bytes)");
    let budget: Budget =
        serde_json::from_str(&text).map_err(|error| anyhow!("{shown} is not a budget: {}", description(&error)))?;
    let (schema, known) = (&budget.schema, Budget::SCHEMA);
    ensure!(schema == known, "{shown} has another schema; this watchtap reads {known:?}");
    Ok(budget)
}
