//! Flags about what a run may cost.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use observer_core::observer::{Budget, Snapshot, Usage};

use super::output::create;
use super::recording::Beside;
use crate::view::BudgetKept;

/// Longest budget that is read, in bytes.
const MAX_BUDGET: u64 = 1 << 20;

/// What the run may cost.
#[derive(Clone, Debug, Args)]
pub(super) struct BudgetFlags {
    /// Fail with exit code 124 when the run costs more than this file allows (docs/budget.md)
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// Write a budget that this run just keeps
    #[arg(long, value_name = "FILE")]
    write_budget: Option<PathBuf>,
}

/// What was read and opened before the run.
#[derive(Debug)]
pub(super) struct BudgetFiles {
    budget: Option<Budget>,
    write: Option<File>,
}

impl BudgetFlags {
    /// Reads and opens the files, so that one that is wrong is known before anything runs.
    pub(super) fn open(&self) -> Result<BudgetFiles> {
        let budget = self.budget.as_deref().map(read).transpose()?;
        let write = self.write_budget.as_deref().map(create).transpose()?;
        Ok(BudgetFiles { budget, write })
    }

    /// What is read and what is written.
    pub(super) fn files(&self) -> Beside<'_> {
        let read = self.budget.as_deref().map(|file| ("--budget", file));
        Beside { read, written: self.write_budget.as_deref().map(|file| ("--write-budget", file)) }
    }
}

impl BudgetFiles {
    /// Judges a run, and writes the budget that it just keeps.
    pub(super) fn judge(self, snapshot: &Snapshot) -> Result<Option<BudgetKept>> {
        let usage = Usage::of(snapshot);
        if let Some(mut file) = self.write {
            let text = serde_json::to_string_pretty(&Budget::just_kept_by(&usage))?;
            writeln!(file, "{text}").context("cannot write the budget")?;
        }
        let kept = |budget: Budget| BudgetKept { exceeded: budget.exceeded_by(&usage), at_least: usage.at_least };
        Ok(self.budget.map(kept))
    }
}

fn read(path: &Path) -> Result<Budget> {
    let shown = path.display();
    let length = fs::metadata(path).with_context(|| format!("cannot read {shown}"))?.len();
    ensure!(length <= MAX_BUDGET, "{shown} is longer than a budget can be ({length} bytes)");
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let budget: Budget = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is no budget; --write-budget makes one from a run, docs/budget.md explains it"))?;
    let (schema, known) = (&budget.schema, Budget::SCHEMA);
    ensure!(schema == known, "{shown} is a budget of the schema {schema:?}; this watchtap reads {known:?}");
    Ok(budget)
}
