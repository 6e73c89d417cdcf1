//! Flags for the budget of a run.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use observer_core::observer::{Budget, Usage};

use super::budget_file::read;
use crate::cli::output::create;
use crate::cli::recording::Beside;
use crate::pipeline::Outcome;
use crate::printable::{Printer, json};
use crate::view::BudgetKept;

/// Flags for the budget of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct BudgetFlags {
    /// Fail with exit code 124 if the run costs more, or has more findings, than this file allows (docs/budget.md)
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// Write a budget from the cost and the findings of this run, with 10 % headroom for objects and bytes
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
