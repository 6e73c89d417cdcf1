//! The test command: which groups run, in which order, and the overall result.

use std::process::ExitCode;
use std::time::Instant;

use super::group::Group;
use super::machine::Machine;
use super::matrix::Matrix;
use super::report::{Outcome, Report};
use super::running;
use super::{accuracy, faults};
use crate::workspace;

/// Run every test that can run on this machine, group by group.
///
/// Reports how many tests each group ran, and which groups were left out and why. A group fails when a test fails or is ignored,
/// when no test runs, or when it is required and left out. Each cause except a failed test counts as one failure in the final line
/// `N passed, M failed`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Groups that must not be left out
    #[arg(long, value_enum, value_name = "GROUP", value_delimiter = ',')]
    require: Vec<Group>,

    /// Run only these groups
    #[arg(long, value_enum, value_name = "GROUP", value_delimiter = ',')]
    only: Vec<Group>,

    /// API servers for the matrix: `all`, or some of 1.29,1.31,1.33,1.34,1.36,1.37; default 1.31,1.34. `all` writes
    /// docs/accuracy.md
    #[arg(long, value_name = "VERSION,…")]
    cluster: Option<Matrix>,

    /// Run only the matrix of faults, each fault five times, and write docs/faults.md; the group `faults` runs each once
    #[arg(long, conflicts_with_all = ["only", "cluster"])]
    faults: bool,
}

impl Args {
    /// All groups; `groups` must not be left out.
    pub(crate) fn requiring(groups: &[Group]) -> Self {
        Self { require: groups.to_vec(), only: Vec::new(), cluster: None, faults: false }
    }

    /// The reason why `group` does not run: it is not selected, or this machine cannot run it.
    fn left_out(&self, group: Group, machine: &Machine) -> Option<Outcome> {
        let not_asked_for = if self.faults {
            (group != Group::Faults).then_some("only the matrix of faults was asked for")
        } else {
            (!self.only.is_empty() && !self.only.contains(&group)).then_some("not among --only")
        };
        let reason = not_asked_for.map(str::to_owned).or_else(|| group.impossible(machine));
        reason.map(|reason| Outcome::LeftOut { reason, required: self.require.contains(&group) })
    }
}

/// Returns a failure unless everything that ran passed and everything required ran.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let machine = Machine::here();
    let matrix = args.cluster.clone().unwrap_or_default();
    let mut report = Report::default();
    println!("== build");
    let begun = Instant::now();
    if workspace::build_for_tests()? {
        report.add_preparation("build", begun.elapsed());
        for group in Group::ALL {
            let outcome = match args.left_out(group, &machine) {
                Some(left_out) => left_out,
                None if group == Group::Cluster => run_cluster(&matrix)?,
                None if group == Group::Faults => run_faults(&matrix, args.faults)?,
                None => running::run(group, &matrix, &[])?,
            };
            println!("{}", outcome.sentence(group));
            report.add(group, outcome);
        }
    } else {
        report.add_broken_build();
    }
    print!("\n{report}");
    Ok(if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Also remarks on the minors that were left out, and writes the table if none was.
fn run_cluster(matrix: &Matrix) -> anyhow::Result<Outcome> {
    if matrix.is_whole() {
        accuracy::forget()?;
    }
    let outcome = running::run(Group::Cluster, matrix, &[])?;
    Ok(match (matrix.sentence(), matrix.is_whole().then(accuracy::write)) {
        (Some(sentence), _) => outcome.with_remark(sentence),
        (None, Some(Err(error))) => outcome.with_fault(format!("{error:#}")),
        (None, _) => outcome,
    })
}

/// Also prints the results, and writes the document if `is_whole`.
fn run_faults(matrix: &Matrix, is_whole: bool) -> anyhow::Result<Outcome> {
    faults::forget()?;
    let runs = is_whole.then(|| (faults::RUNS_VARIABLE, faults::RUNS.to_string()));
    let outcome = running::run(Group::Faults, matrix, runs.as_slice())?;
    let shown = faults::print().and_then(|()| if is_whole { faults::write() } else { Ok(()) });
    Ok(match shown {
        Ok(()) if is_whole => outcome,
        Ok(()) => outcome.with_remark("each fault once; --faults runs each five times".to_owned()),
        Err(error) => outcome.with_fault(format!("{error:#}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::machine::{Assets, Kernel};

    const KERNEL: Kernel = Kernel { has_btf: true, may_load: true, may_make_cgroups: true };

    #[test]
    fn required_group_that_is_not_asked_for_is_left_out_though_required() {
        let args = Args { require: vec![Group::Cluster], only: vec![Group::Unit], cluster: None, faults: false };
        let machine = Machine { go: true, kubectl: true, missing: Vec::new(), assets: Assets::Unset, kernel: KERNEL };
        let outcome = args.left_out(Group::Cluster, &machine);
        assert_eq!(outcome, Some(Outcome::LeftOut { reason: "not among --only".into(), required: true }));
        assert_eq!(args.left_out(Group::Unit, &machine), None);
    }

    #[test]
    fn faults_leave_all_other_groups_out() {
        let args = Args { faults: true, ..Args::requiring(&[]) };
        let machine = Machine { go: true, kubectl: true, missing: Vec::new(), assets: Assets::Unset, kernel: KERNEL };
        let run: Vec<Group> = Group::ALL.into_iter().filter(|&group| args.left_out(group, &machine).is_none()).collect();
        assert_eq!(run, [Group::Faults]);
    }

    #[test]
    fn all_groups_run_where_everything_is_at_hand() {
        let args = Args::requiring(&[]);
        let machine = Machine { go: true, kubectl: true, missing: Vec::new(), assets: Assets::Unset, kernel: KERNEL };
        assert!(Group::ALL.iter().all(|&group| args.left_out(group, &machine).is_none()));
    }
}
