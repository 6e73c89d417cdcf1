//! The numbers of programs as a table.

use serde::Serialize;

use super::PROGRAMS;
use super::trial::Asking;
use crate::machine::Machine;
use crate::table::Table;

/// When the programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Start {
    /// One after the other, with one probe.
    Ready,
    /// Each as the first program after a probe of its own has started.
    JustStarted,
}

/// One kind of programs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    program: &'static str,
    /// Milliseconds from the start of the program to its first request; `None` if the program asks when it is ready.
    wait_ms: Option<u32>,
    start: Start,
    programs: usize,
    from_first: usize,
    /// Programs without any seen request.
    unseen: usize,
    /// Minimum of `from_first`, if there is a budget and enough programs ran for it.
    budget: Option<usize>,
}

#[derive(Debug, Serialize)]
pub(super) struct Report {
    rows: Vec<Row>,
    machine: Machine,
}

impl Row {
    /// `first_seen` has the number of the first request seen of each program.
    pub(super) fn of(asking: Asking, start: Start, first_seen: &[Option<u32>]) -> Self {
        let (program, wait_ms, budget) = match asking {
            Asking::Go { wait: 0 } => ("Go client", Some(0), 20),
            Asking::Go { wait } => ("Go client", Some(wait), 27),
            // It takes longer than 15 ms to its first request.
            Asking::Kubectl => ("kubectl", None, 27),
        };
        Self {
            program,
            wait_ms,
            start,
            programs: first_seen.len(),
            from_first: first_seen.iter().filter(|first| **first == Some(0)).count(),
            unseen: first_seen.iter().filter(|first| first.is_none()).count(),
            budget: (start == Start::Ready && u32::try_from(first_seen.len()) == Ok(PROGRAMS)).then_some(budget),
        }
    }
}

impl Report {
    pub(super) const fn of(rows: Vec<Row>, machine: Machine) -> Self {
        Self { rows, machine }
    }

    pub(super) fn to_markdown(&self) -> String {
        let mut table =
            Table::new(["Program", "First request", "Probe", "programs", "seen from the first request", "never seen", "budget"]);
        for row in &self.rows {
            table.row([
                row.program.to_owned(),
                match row.wait_ms {
                    Some(0) => "at once".to_owned(),
                    Some(wait) => format!("{wait} ms after the start"),
                    None => "when ready".to_owned(),
                },
                match row.start {
                    Start::Ready => "ready".to_owned(),
                    Start::JustStarted => "just started".to_owned(),
                },
                row.programs.to_string(),
                row.from_first.to_string(),
                row.unseen.to_string(),
                row.budget.map_or(String::new(), |least| {
                    format!("{least}: {}", if row.from_first >= least { "kept" } else { "not kept" })
                }),
            ]);
        }
        format!("{}\n{}\n", table.to_markdown(), self.machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_needs_thirty_programs_of_a_ready_probe() {
        let row = |start, seen: &[Option<u32>]| Row::of(Asking::Go { wait: 15 }, start, seen);
        let seen = [vec![Some(0); 27], vec![Some(1), Some(2), None]].concat();
        let ready = row(Start::Ready, &seen);
        assert_eq!((ready.from_first, ready.unseen, ready.budget), (27, 1, Some(27)));
        assert_eq!(row(Start::Ready, &seen[..10]).budget, None);
        assert_eq!(row(Start::JustStarted, &seen).budget, None);
    }
}
