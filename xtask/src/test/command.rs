//! The command `cargo xtask test`: chooses the groups, runs them, and prints the overall result.

use std::process::ExitCode;
use std::time::Instant;

use super::extent::Extent;
use super::group::Group;
use super::machine::Machine;
use super::matrix::Matrix;
use super::report::{Outcome, Report};
use super::running;
use super::{accuracy, faults, panels};
use crate::{image, workspace};

/// Run every test that can run on this machine, group by group.
///
/// Reports how many tests each group ran, and which groups were left out and why. A group fails when a test fails or is ignored,
/// when no test runs, or when it is required and left out. Each cause except a failed test counts as one failure in the final line
/// `N passed, M failed`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Groups that must run: if one is left out, that is a failure
    #[arg(long, value_enum, value_name = "GROUP", value_delimiter = ',')]
    require: Vec<Group>,

    /// Run only these groups
    #[arg(long, value_enum, value_name = "GROUP", value_delimiter = ',')]
    only: Vec<Group>,

    /// Versions of the API server for the matrix: `all`, or some of 1.29,1.31,1.33,1.34,1.36,1.37 [default: 1.31,1.34, or those of
    /// the sample]. `all` writes docs/accuracy.md
    #[arg(long, value_name = "VERSION,…")]
    cluster: Option<Matrix>,

    /// Run only the group `faults`, with each fault five times instead of once, and write docs/faults.md
    #[arg(long, conflicts_with_all = ["only", "cluster"])]
    faults: bool,

    /// Run only the group `prometheus`, and write the values of the boards' panels into docs/metrics.md
    #[arg(long, conflicts_with_all = ["only", "cluster", "faults", "sample", "everything"])]
    panels: bool,

    /// Run a sample, which NUMBER selects: half of the faults, and either one minor of the matrix (if it is even) or the churn, the
    /// quiet and the soak. CI passes the number of the day
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["faults", "everything"])]
    sample: Option<u64>,

    /// Leave nothing out: all minors, all faults, and ten minutes each of churn and soak
    #[arg(long, conflicts_with = "faults")]
    everything: bool,
}

impl Args {
    /// The arguments for a run of all groups, of which `groups` must not be left out.
    pub(crate) fn requiring(groups: &[Group]) -> Self {
        Self {
            require: groups.to_vec(),
            only: Vec::new(),
            cluster: None,
            faults: false,
            panels: false,
            sample: None,
            everything: false,
        }
    }

    fn extent(&self) -> Extent {
        match self.sample {
            Some(number) => Extent::Sample(number),
            None if self.everything => Extent::Everything,
            None => Extent::Usual,
        }
    }

    /// The outcome of `group` if it does not run, because it is not selected or this machine cannot run it. A required group that the
    /// sample does not have is no failure.
    fn left_out(&self, group: Group, machine: &Machine) -> Option<Outcome> {
        let not_asked_for = if self.faults {
            (group != Group::Faults).then_some("--faults runs only the group `faults`")
        } else if self.panels {
            (group != Group::Prometheus).then_some("--panels runs only the group `prometheus`")
        } else {
            (!self.only.is_empty() && !self.only.contains(&group)).then_some("not among --only")
        };
        let reason = not_asked_for.map(str::to_owned).or_else(|| group.impossible(machine));
        let required = self.require.contains(&group);
        let sampled = || self.extent().leaves_out(group).map(|reason| Outcome::LeftOut { reason, required: false });
        reason.map(|reason| Outcome::LeftOut { reason, required }).or_else(sampled)
    }
}

/// Returns a failure unless everything that ran passed and everything required ran.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let machine = Machine::here();
    let extent = args.extent();
    let matrix = args.cluster.clone().unwrap_or_else(|| extent.matrix());
    let environment = extent.environment(|name| std::env::var_os(name).is_some());
    let mut report = Report::default();
    if let Some(sentence) = extent.sentence() {
        println!("== {sentence}");
    }
    println!("== build");
    let begun = Instant::now();
    if workspace::build_for_tests()? {
        report.add_preparation("build", begun.elapsed());
        for group in Group::ALL {
            let outcome = match args.left_out(group, &machine) {
                Some(left_out) => left_out,
                None if group == Group::Cluster => run_cluster(extent, &matrix)?,
                None if group == Group::Image => run_image(extent, &matrix, &mut report)?,
                None if group == Group::Faults => run_faults(extent, &matrix, args.faults)?,
                None if args.panels => run_panels(extent, &matrix)?,
                None => {
                    let outcome = running::run(group, extent, &matrix, &environment)?;
                    extent.remark(group).into_iter().fold(outcome, Outcome::with_remark)
                }
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

/// Runs the group `cluster`. Adds a remark on what was left out, and writes docs/accuracy.md if all minors ran.
fn run_cluster(extent: Extent, matrix: &Matrix) -> anyhow::Result<Outcome> {
    if matrix.is_complete() {
        accuracy::forget()?;
    }
    let outcome = running::run(Group::Cluster, extent, matrix, &[])?;
    let remarks: Vec<String> = matrix.sentence().into_iter().chain(extent.remark(Group::Cluster)).collect();
    let outcome = if remarks.is_empty() { outcome } else { outcome.with_remark(remarks.join("; ")) };
    Ok(match matrix.is_complete().then(accuracy::write) {
        Some(Err(error)) => outcome.with_fault(format!("{error:#}")),
        Some(Ok(())) | None => outcome,
    })
}

/// Builds the image, and runs the tests that read it.
fn run_image(extent: Extent, matrix: &Matrix, report: &mut Report) -> anyhow::Result<Outcome> {
    let begun = Instant::now();
    let built = image::for_tests();
    report.add_preparation("image", begun.elapsed());
    match built {
        Ok(archive) => running::run(Group::Image, extent, matrix, &[(image::TESTS_VARIABLE, archive.display().to_string())]),
        Err(error) => Ok(Outcome::could_not_run(format!("the image does not build: {error:#}"))),
    }
}

/// Runs the group `faults`, and prints its results. Adds a remark on the faults that were left out, and writes docs/faults.md if
/// `is_complete`.
fn run_faults(extent: Extent, matrix: &Matrix, is_complete: bool) -> anyhow::Result<Outcome> {
    faults::forget()?;
    let runs = is_complete.then(|| (faults::RUNS_VARIABLE, faults::RUNS.to_string()));
    let outcome = running::run(Group::Faults, extent, matrix, runs.as_slice())?;
    let shown = faults::print().and_then(|()| if is_complete { faults::write() } else { Ok(()) });
    Ok(match shown {
        Ok(()) if is_complete => outcome,
        Ok(()) => outcome.with_remark(remark_on_faults(&extent.faults_left_out())),
        Err(error) => outcome.with_fault(format!("{error:#}")),
    })
}

/// Runs the group `prometheus`, and writes the section on panels in docs/metrics.md.
fn run_panels(extent: Extent, matrix: &Matrix) -> anyhow::Result<Outcome> {
    panels::forget()?;
    let outcome = running::run(Group::Prometheus, extent, matrix, &[])?;
    Ok(match panels::write() {
        Ok(()) => outcome,
        Err(error) => outcome.with_fault(format!("{error:#}")),
    })
}

fn remark_on_faults(left_out: &[&str]) -> String {
    if left_out.is_empty() {
        return "each fault once; --faults runs each five times".to_owned();
    }
    format!("left out: {}; --faults runs all of them, each five times", left_out.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::machine::{Assets, Containers, Kernel};

    const KERNEL: Kernel = Kernel { has_btf: true, may_load: true, may_make_cgroups: true };
    const CONTAINERS: Containers = Containers { may_make_namespaces: true, has_cgroup_v1: true, missing_plugin: None };

    /// A machine on which each group can run.
    fn complete() -> Machine {
        Machine {
            go: true,
            kubectl: true,
            is_root: true,
            missing: Vec::new(),
            assets: Assets::Unset,
            kernel: KERNEL,
            containers: CONTAINERS,
        }
    }

    #[test]
    fn unselected_group_is_left_out_even_if_required() {
        let args = Args { only: vec![Group::Unit], ..Args::requiring(&[Group::Cluster]) };
        let machine = complete();
        let outcome = args.left_out(Group::Cluster, &machine);
        assert_eq!(outcome, Some(Outcome::LeftOut { reason: "not among --only".into(), required: true }));
        assert_eq!(args.left_out(Group::Unit, &machine), None);
    }

    #[test]
    fn required_soak_is_no_failure_in_a_sample_without_it() {
        let machine = complete();
        let soak = |number| Args { sample: Some(number), ..Args::requiring(&[Group::Soak]) }.left_out(Group::Soak, &machine);
        assert!(matches!(soak(20_000), Some(Outcome::LeftOut { required: false, .. })));
        assert_eq!(soak(20_001), None);
    }

    #[test]
    fn faults_flag_runs_only_the_faults_group() {
        let args = Args { faults: true, ..Args::requiring(&[]) };
        let machine = complete();
        let run: Vec<Group> = Group::ALL.into_iter().filter(|&group| args.left_out(group, &machine).is_none()).collect();
        assert_eq!(run, [Group::Faults]);
    }

    #[test]
    fn panels_flag_runs_only_the_prometheus_group() {
        let args = Args { panels: true, ..Args::requiring(&[]) };
        let machine = complete();
        let run: Vec<Group> = Group::ALL.into_iter().filter(|&group| args.left_out(group, &machine).is_none()).collect();
        assert_eq!(run, [Group::Prometheus]);
    }

    #[test]
    fn all_groups_run_on_a_complete_machine() {
        let args = Args::requiring(&[]);
        let machine = complete();
        assert!(Group::ALL.iter().all(|&group| args.left_out(group, &machine).is_none()));
    }
}
