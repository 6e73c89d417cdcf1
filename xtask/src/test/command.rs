//! The command `cargo xtask test`: chooses the groups, runs them, and prints the overall result.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::OnceLock;
use std::time::Instant;

use super::extent::Extent;
use super::group::Group;
use super::kernels::Kernels;
use super::machine::Machine;
use super::matrix::Matrix;
use super::report::{Outcome, Report, Took};
use super::running::{self, Output};
use super::{accuracy, faults, kernel_table, lanes, log_accuracy, panels, processor_time};
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

    /// Kernels for virtual machines: `all`, or some of 5.10,6.1,6.12,newest,arm64-6.12 [default: 6.1, or that of the sample]. `all` writes
    /// their table into docs/probe.md
    #[arg(long, value_name = "KERNEL,…")]
    vm: Option<Kernels>,

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

    /// Leave nothing out: all minors, all kernels, all faults, and ten minutes each of churn and soak
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
            vm: None,
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

    fn kernels(&self) -> Kernels {
        self.vm.clone().unwrap_or_else(|| self.extent().kernels())
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
        let no_kernel = || if group == Group::Vm { self.kernels().impossible(machine) } else { None };
        let reason = not_asked_for.map(str::to_owned).or_else(|| group.impossible(machine)).or_else(no_kernel);
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
    let kernels = args.kernels();
    let environment = extent.environment(|name| std::env::var_os(name).is_some());
    let no_registry = machine.lacks(&["skopeo", "docker-registry"]);
    let runs = Runs {
        extent,
        matrix,
        kernels,
        environment,
        all_faults: args.faults,
        panels: args.panels,
        built_image: OnceLock::new(),
        no_registry,
    };
    let mut report = Report::default();
    if let Some(sentence) = extent.sentence() {
        println!("== {sentence}");
    }
    println!("== build");
    let (begun, processors) = (Instant::now(), processor_time::so_far());
    if workspace::build_for_tests()? {
        let processors = processor_time::so_far().saturating_sub(processors);
        report.add_preparation("build", Took { total: begun.elapsed(), processors, ..Took::default() });
        let mut groups = Vec::new();
        for group in Group::ALL {
            match args.left_out(group, &machine) {
                Some(left_out) => {
                    println!("{}", left_out.sentence(group));
                    report.add(group, left_out);
                }
                None => groups.push(group),
            }
        }
        lanes::run(
            &groups,
            &workspace::target().join("tests"),
            |group, output| runs.run(group, output).unwrap_or_else(|error| Outcome::could_not_run(format!("{error:#}"))),
            |group, outcome| {
                let outcome = runs.end(group, outcome);
                println!("{}", outcome.sentence(group));
                report.add(group, outcome);
            },
        );
    } else {
        report.add_broken_build();
    }
    report.end(begun.elapsed());
    print!("\n{report}");
    Ok(if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The extent of the groups' runs.
struct Runs {
    extent: Extent,
    matrix: Matrix,
    kernels: Kernels,
    environment: Vec<(&'static str, String)>,
    /// Whether each fault runs as often as docs/faults.md needs.
    all_faults: bool,
    /// Whether the values of the boards' panels are written into docs/metrics.md.
    panels: bool,
    /// The archive with the image, once it is built. The group `node` runs it.
    built_image: OnceLock<PathBuf>,
    /// The reason if the node has no registry for the image.
    no_registry: Option<String>,
}

impl Runs {
    /// Runs a group. Other groups may run at the same time, so this prints nothing except through `output`.
    fn run(&self, group: Group, output: &Output) -> anyhow::Result<Outcome> {
        if self.writes_accuracy(group) {
            accuracy::forget()?;
        }
        if self.writes_panels(group) {
            panels::forget()?;
        }
        if self.writes_log_accuracy(group) {
            log_accuracy::forget()?;
        }
        if self.writes_kernels(group) {
            kernel_table::forget()?;
        }
        let mut environment = self.environment.clone();
        if group == Group::Faults {
            faults::forget()?;
            environment.extend(self.all_faults.then(|| (faults::RUNS_VARIABLE, faults::RUNS.to_string())));
        }
        if group == Group::Node && self.no_registry.is_none() {
            environment.extend(self.image_variable());
        }
        let mut took = Took::default();
        if let Some((variable, (command, path))) = self.built_before(group) {
            let built = running::call(command, output)?;
            if !built.status.success() {
                return Ok(Outcome::could_not_run(format!("{} does not build", path.display())).with_time(built.took));
            }
            environment.push((variable, path.display().to_string()));
            if group == Group::Image {
                self.built_image.get_or_init(|| path);
            }
            took = built.took;
        }
        Ok(running::run(group, self.extent, &self.matrix, &self.kernels, &environment, output)?.with_time(took))
    }

    /// The file that the tests of a group read and that is built before: its variable, the command that builds it, and its path.
    fn built_before(&self, group: Group) -> Option<(&'static str, (Command, PathBuf))> {
        let has_arm64 = group == Group::Vm && self.kernels.have_arm64();
        let image = (group == Group::Image).then(|| (image::TESTS_VARIABLE, image::for_tests()));
        image.or_else(|| has_arm64.then(|| (image::TESTS_PROGRAM_VARIABLE, image::arm64_program_for_tests())))
    }

    /// The environment variable that names the image to tests, if it is built.
    fn image_variable(&self) -> Option<(&'static str, String)> {
        self.built_image.get().map(|archive| (image::TESTS_VARIABLE, archive.display().to_string()))
    }

    /// Writes the documents and prints the results of a group that ran. Adds a remark on what was left out.
    fn end(&self, group: Group, outcome: Outcome) -> Outcome {
        let written = if self.writes_accuracy(group) {
            accuracy::write()
        } else if self.writes_panels(group) {
            panels::write()
        } else if self.writes_kernels(group) {
            kernel_table::write()
        } else if self.writes_log_accuracy(group) {
            log_accuracy::write()
        } else if group == Group::Faults {
            faults::print().and_then(|()| if self.all_faults { faults::write() } else { Ok(()) })
        } else {
            Ok(())
        };
        let outcome = match written {
            Ok(()) => outcome,
            Err(error) => outcome.with_fault(format!("{error:#}")),
        };
        let remarks = self.remarks(group);
        if remarks.is_empty() { outcome } else { outcome.with_remark(remarks.join("; ")) }
    }

    fn writes_accuracy(&self, group: Group) -> bool {
        group == Group::Cluster && self.matrix.is_complete()
    }

    fn writes_kernels(&self, group: Group) -> bool {
        group == Group::Vm && self.kernels.is_complete()
    }

    fn writes_log_accuracy(&self, group: Group) -> bool {
        group == Group::Stories && self.extent == Extent::Everything
    }

    fn writes_panels(&self, group: Group) -> bool {
        group == Group::Prometheus && self.panels
    }

    /// The remark on those commands of the guide that do not run on the node, if there are such.
    fn replaced_on_the_node(&self) -> Option<String> {
        let reason = match (self.built_image.get(), &self.no_registry) {
            (None, _) => "the group image has built no image",
            (Some(_), Some(missing)) => missing,
            (Some(_), None) => return None,
        };
        Some(format!("replaced: commands 1 and 2 of deploy/README.md, as {reason}"))
    }

    fn remarks(&self, group: Group) -> Vec<String> {
        let of_matrix = (group == Group::Cluster).then(|| self.matrix.sentence()).flatten();
        let of_faults = (group == Group::Faults && !self.all_faults).then(|| remark_on_faults(&self.extent.faults_left_out()));
        let of_node = (group == Group::Node).then(|| self.replaced_on_the_node()).flatten();
        let of_kernels = (group == Group::Vm).then(|| self.kernels.sentence());
        [of_matrix, of_kernels, of_faults, of_node, self.extent.remark(group)].into_iter().flatten().collect()
    }
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
