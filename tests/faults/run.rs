//! Runs one fault, several times if necessary, and compares the clients' behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::Duration;
use std::{fmt, fs};

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, faults_folder};
use serde_json::{Value, json};

use super::fault::Fault;
use super::residue::{is_chance, residue};
use super::testbed::{Behaviour, Outcome, Testbed, Way};

/// The environment variable with the number of runs per fault; the default is 1.
const RUNS: &str = "WATCHTAP_TESTS_FAULT_RUNS";

/// Minimum age of a watch when the fault occurs, so that none counts as very short.
const SETTLED: Duration = Duration::from_secs(2);

/// The results of all runs of one fault for one client on one route.
#[derive(Debug, Default)]
struct Seen {
    /// Each behaviour, with its number of runs.
    behaviours: BTreeMap<Behaviour, usize>,
    /// The minimum and the maximum number of spurious updates.
    spurious: Option<(usize, usize)>,
    /// All error messages of the client.
    errors: BTreeSet<String>,
}

/// One cell of the matrix: a fault and a client.
#[derive(Debug)]
struct Cell {
    fault: Fault,
    client: CacheClient,
    direct: Seen,
    watchtap: Seen,
}

/// Fails unless every client behaves through watchtap as it does directly.
///
/// Some behaviour depends on chance, such as a dial just before or just after a listener is closed. So the sets of behaviours in
/// several runs are compared. If the sets differ, the fault is run a few more times.
pub(crate) fn check(fault: Fault) -> Result<()> {
    const MORE: usize = 5;
    let clients = CacheClient::all();
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut cells = Vec::new();
    let runs = runs()?;
    for done in 1..=runs + MORE {
        outcomes.extend(run(fault, &clients, done)?);
        cells = clients.iter().map(|client| Cell::of(fault, *client, &outcomes)).collect();
        if done >= runs && cells.iter().all(Cell::is_settled) {
            break;
        }
    }
    leave(fault, &cells)?;
    let unequal: Vec<String> = cells.iter().filter(|cell| !cell.is_sound()).map(ToString::to_string).collect();
    ensure!(unequal.is_empty(), "{}: with watchtap in between clients do something else\n{}", fault.name(), unequal.join("\n"));
    Ok(())
}

fn runs() -> Result<usize> {
    std::env::var(RUNS).map_or(Ok(1), |runs| runs.parse().with_context(|| format!("{RUNS}={runs}")))
}

fn run(fault: Fault, clients: &[CacheClient], number: usize) -> Result<Vec<Outcome>> {
    let order = if number.is_multiple_of(2) { [Way::Watchtap, Way::Direct] } else { [Way::Direct, Way::Watchtap] };
    let mut testbed = Testbed::set(clients, order, &fault.needs())?;
    sleep(SETTLED);
    fault.happen(&mut testbed).with_context(|| fault.name())?;
    testbed.outcomes()
}

/// Writes the results; `cargo xtask test --faults` builds the table from all files.
fn leave(fault: Fault, cells: &[Cell]) -> Result<()> {
    fs::create_dir_all(faults_folder())?;
    let cells: Vec<Value> = cells.iter().map(Cell::json).collect();
    let document = json!({"fault": fault.name(), "order": fault as usize, "of": Fault::COUNT, "cells": cells});
    Ok(fs::write(faults_folder().join(format!("{fault:?}.json")), document.to_string())?)
}

/// The verdict of a cell; `xtask/src/test/faults.rs` explains each sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Equal,
    NoWorse,
    Residue,
    NotMet,
    Unequal,
}

impl Verdict {
    const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NoWorse => "≤",
            Self::Residue => "r",
            Self::NotMet => "–",
            Self::Unequal => "≠",
        }
    }
}

impl Cell {
    fn of(fault: Fault, client: CacheClient, outcomes: &[Outcome]) -> Self {
        let of = |way: Way| outcomes.iter().filter(move |outcome| outcome.client == client && outcome.way == way);
        Self { fault, client, direct: of(Way::Direct).collect(), watchtap: of(Way::Watchtap).collect() }
    }

    fn verdict(&self) -> Verdict {
        if self.direct.is_as(&self.watchtap) {
            if self.fault.meets(self.client) { Verdict::Equal } else { Verdict::NotMet }
        } else if is_chance(self.fault, self.client) && self.watchtap.is_no_worse_than(&self.direct) {
            Verdict::NoWorse
        } else if residue(self.fault, self.client).is_some() {
            Verdict::Residue
        } else {
            Verdict::Unequal
        }
    }

    fn json(&self) -> Value {
        json!({
            "client": self.client.to_string(), "sign": self.verdict().sign(), "reason": residue(self.fault, self.client),
            "direct": self.direct.json(), "watchtap": self.watchtap.json(),
        })
    }

    /// Whether further runs cannot change the verdict.
    fn is_settled(&self) -> bool {
        self.is_sound() && self.verdict() != Verdict::NoWorse
    }

    fn is_sound(&self) -> bool {
        self.verdict() != Verdict::Unequal
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, direct, watchtap, .. } = self;
        write!(formatter, "  {client}\n    directly {}\n    watchtap {}", direct.json(), watchtap.json())
    }
}

impl<'o> FromIterator<&'o Outcome> for Seen {
    fn from_iter<Outcomes: IntoIterator<Item = &'o Outcome>>(outcomes: Outcomes) -> Self {
        outcomes.into_iter().fold(Self::default(), |mut seen, outcome| {
            *seen.behaviours.entry(outcome.behaviour.clone()).or_default() += 1;
            seen.errors.extend(outcome.errors.iter().cloned());
            let (fewest, most) = seen.spurious.unwrap_or((outcome.spurious, outcome.spurious));
            seen.spurious = Some((fewest.min(outcome.spurious), most.max(outcome.spurious)));
            seen
        })
    }
}

impl Seen {
    /// Whether the behaviours are equal, and spurious updates occurred in both or in neither.
    fn is_as(&self, other: &Self) -> bool {
        let has_spurious = |seen: &Self| seen.spurious.map(|(_, most)| most > 0);
        self.behaviours.keys().eq(other.behaviours.keys()) && has_spurious(self) == has_spurious(other)
    }

    /// Whether each behaviour also occurred in `other`, or occurred there with the same end and more lists.
    fn is_no_worse_than(&self, other: &Self) -> bool {
        let most = other.behaviours.keys().map(|behaviour| behaviour.attempted.lists()).max().unwrap_or_default();
        let ends: BTreeSet<_> = other.behaviours.keys().map(|behaviour| &behaviour.end).collect();
        let is_fine = |behaviour: &Behaviour| {
            other.behaviours.contains_key(behaviour) || (behaviour.attempted.lists() < most && ends.contains(&behaviour.end))
        };
        self.behaviours.keys().all(is_fine)
    }

    fn json(&self) -> Value {
        let behaviours = self.behaviours.iter().map(|(behaviour, runs)| {
            let Behaviour { accepted, attempted, end } = behaviour;
            json!({"runs": runs, "accepted": accepted.to_string(), "attempted": attempted.to_string(), "end": end})
        });
        let (fewest, most) = self.spurious.unwrap_or_default();
        json!({"behaviour": behaviours.collect::<Vec<_>>(), "spurious": [fewest, most], "errors": self.errors})
    }
}
