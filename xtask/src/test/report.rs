//! The results of the groups: the final table, the messages of failed tests, and the last line, which CI reads.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use super::group::Group;
use super::libtest::{Failure, Tally};

/// The time of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Took {
    /// Wall time.
    pub(crate) total: Duration,
    /// The time before the first test, in which cargo builds. It does not include the time in which tests build servers with Go.
    pub(crate) building: Duration,
    /// Processor time of all its processes.
    pub(crate) processors: Duration,
}

impl AddAssign for Took {
    fn add_assign(&mut self, other: Self) {
        self.total += other.total;
        self.building += other.building;
        self.processors += other.processors;
    }
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [total, building, processors] = [self.total, self.building, self.processors].map(|time| time.as_secs_f64());
        write!(f, "{total:>8.1}  {building:>8.1}  {processors:>8.1}")
    }
}

/// The result of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The group ran. `failures` are the failed tests whose output is known. `faults` count as failures in addition to failed tests. `remark` states the part of the group that did not
    /// run, and why.
    Ran {
        tally: Tally,
        failures: Vec<Failure>,
        took: Took,
        faults: Vec<String>,
        remark: Option<String>,
    },
    LeftOut {
        reason: String,
        required: bool,
    },
}

impl Outcome {
    /// The result of a group that ran, with faults of the group itself, such as ignored tests. `cargo_failure` is cargo's exit
    /// status unless it was a success.
    pub(crate) fn ran(tally: Tally, cargo_failure: Option<String>, took: Took) -> Self {
        let mut faults = Vec::new();
        if tally.ignored > 0 {
            faults
                .push(format!("{} ignored: a test that cannot run everywhere belongs to a group of its own", tests(tally.ignored)));
        }
        match cargo_failure {
            Some(status) if tally.failed == 0 => faults.push(format!("cargo test ended with {status} though no test failed")),
            None if tally.passed == 0 => faults.push(String::from("no test ran")),
            Some(_) | None => {}
        }
        Self::Ran { tally, failures: Vec::new(), took, faults, remark: None }
    }

    /// The result of a group whose preparation failed.
    pub(crate) fn could_not_run(fault: String) -> Self {
        Self::Ran { tally: Tally::default(), failures: Vec::new(), took: Took::default(), faults: vec![fault], remark: None }
    }

    /// The same result, with a remark on tests that were left out.
    pub(crate) fn with_remark(mut self, left_out: String) -> Self {
        if let Self::Ran { remark, .. } = &mut self {
            *remark = Some(left_out);
        }
        self
    }

    /// The same result, with the failed tests.
    pub(crate) fn with_failures(mut self, found: Vec<Failure>) -> Self {
        if let Self::Ran { failures, .. } = &mut self {
            *failures = found;
        }
        self
    }

    /// The same result, with the time of a preparation of this group.
    pub(crate) fn with_time(mut self, of_preparation: Took) -> Self {
        if let Self::Ran { took, .. } = &mut self {
            *took += of_preparation;
        }
        self
    }

    /// The same result, with one more failure.
    pub(crate) fn with_fault(mut self, fault: String) -> Self {
        if let Self::Ran { faults, .. } = &mut self {
            faults.push(fault);
        }
        self
    }

    /// The message at the end of the group.
    pub(crate) fn sentence(&self, group: Group) -> String {
        let name = group.name();
        match self {
            Self::Ran { tally, took, .. } => {
                format!(
                    "== {name}: {} ran in {:.1} s, {} failed",
                    tests(tally.passed + tally.failed),
                    took.total.as_secs_f64(),
                    tally.failed
                )
            }
            Self::LeftOut { reason, .. } => format!("\n== {name}: left out, {reason}"),
        }
    }

    const fn passed(&self) -> usize {
        match self {
            Self::Ran { tally, .. } => tally.passed,
            Self::LeftOut { .. } => 0,
        }
    }

    fn failures(&self) -> &[Failure] {
        match self {
            Self::Ran { failures, .. } => failures,
            Self::LeftOut { .. } => &[],
        }
    }

    fn took(&self) -> Took {
        match self {
            Self::Ran { took, .. } => *took,
            Self::LeftOut { .. } => Took::default(),
        }
    }

    fn failed(&self) -> usize {
        match self {
            Self::Ran { tally, faults, .. } => tally.failed + faults.len(),
            Self::LeftOut { required, .. } => usize::from(*required),
        }
    }
}

fn tests(number: usize) -> String {
    if number == 1 { String::from("1 test") } else { format!("{number} tests") }
}

/// The outcomes of all groups. `Display` writes the table and the failed tests; its last line is `N passed, M failed`.
#[derive(Debug, Default)]
pub(crate) struct Report {
    groups: Vec<(Group, Outcome)>,
    /// Work for several groups, such as the build, with its duration.
    preparations: Vec<(&'static str, Took)>,
    build_is_broken: bool,
    /// Wall time of the run. It is less than the sum over the groups, because some of them run side by side.
    elapsed: Duration,
}

impl Report {
    /// Adds a preparation, all of which is building.
    pub(crate) fn add_preparation(&mut self, name: &'static str, took: Took) {
        self.preparations.push((name, Took { building: took.total, ..took }));
    }

    pub(crate) fn add(&mut self, group: Group, outcome: Outcome) {
        self.groups.push((group, outcome));
    }

    /// Sets the wall time of the run, and puts the groups into the order of the table.
    pub(crate) fn end(&mut self, elapsed: Duration) {
        self.elapsed = elapsed;
        self.groups.sort_by_key(|(group, _)| Group::ALL.iter().position(|other| other == group));
    }

    /// Records that the build failed, so that no group could run.
    pub(crate) const fn add_broken_build(&mut self) {
        self.build_is_broken = true;
    }

    pub(crate) fn is_success(&self) -> bool {
        self.failed() == 0
    }

    /// The wall time of the run, and the sums over all preparations and groups.
    fn took(&self) -> Took {
        let mut sum = Took::default();
        self.preparations.iter().for_each(|(_, took)| sum += *took);
        self.groups.iter().for_each(|(_, outcome)| sum += outcome.took());
        Took { total: self.elapsed, ..sum }
    }

    fn passed(&self) -> usize {
        self.groups.iter().map(|(_, outcome)| outcome.passed()).sum()
    }

    fn failed(&self) -> usize {
        let of_groups: usize = self.groups.iter().map(|(_, outcome)| outcome.failed()).sum();
        of_groups + usize::from(self.build_is_broken)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.build_is_broken {
            writeln!(f, "the workspace does not build: see cargo's messages above")?;
        } else {
            writeln!(f, "{:<16}  {:>6}  {:>6}  {:>8}  {:>8}  {:>8}", "GROUP", "PASSED", "FAILED", "SECONDS", "BUILDING", "CPU")?;
        }
        for (name, took) in &self.preparations {
            writeln!(f, "{name:<16}  {:>6}  {:>6}  {took}", "", "")?;
        }
        for (group, outcome) in &self.groups {
            write_row(f, *group, outcome)?;
        }
        writeln!(f, "{:<16}  {:>6}  {:>6}  {}", "total", self.passed(), self.failed(), self.took())?;
        for (group, outcome) in &self.groups {
            outcome
                .failures()
                .iter()
                .try_for_each(|failure| writeln!(f, "                  failure in {}: {failure}", group.name()))?;
        }
        writeln!(f, "{} passed, {} failed", self.passed(), self.failed())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, group: Group, outcome: &Outcome) -> fmt::Result {
    let name = group.name();
    match outcome {
        Outcome::Ran { tally, took, faults, remark, .. } => {
            writeln!(f, "{name:<16}  {:>6}  {:>6}  {took}", tally.passed, tally.failed)?;
            remark.iter().try_for_each(|remark| writeln!(f, "                  {remark}"))?;
            faults.iter().try_for_each(|fault| writeln!(f, "                  failure: {fault}"))
        }
        Outcome::LeftOut { reason, required: false } => writeln!(f, "{name:<16}  left out: {reason}"),
        Outcome::LeftOut { reason, required: true } => writeln!(f, "{name:<16}  failure: required, but left out: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::libtest::Failures;
    use super::*;

    const SECOND: Took =
        Took { total: Duration::from_secs(1), building: Duration::from_millis(100), processors: Duration::from_millis(1_500) };

    #[test]
    fn successful_run_names_the_groups_left_out() {
        let left_out = Outcome::LeftOut { reason: "kubectl is not on PATH".into(), required: false };
        let mut report = report(vec![(Group::Kubectl, left_out), (Group::Cluster, ran(3, 0, 0)), (Group::Unit, ran(12, 0, 0))]);
        let build = Took { total: Duration::from_secs(70), processors: Duration::from_secs(135), ..Took::default() };
        report.add_preparation("build", build);
        report.end(Duration::from_millis(71_500));
        assert!(report.is_success());
        let expected = "\
GROUP             PASSED  FAILED   SECONDS  BUILDING       CPU
build                                 70.0      70.0     135.0
unit                  12       0       1.0       0.1       1.5
cluster                3       0       1.0       0.1       1.5
kubectl           left out: kubectl is not on PATH
total                 15       0      71.5      70.2     138.0
15 passed, 0 failed
";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn partly_skipped_group_is_named_and_passes() {
        let report = report(vec![(Group::Cluster, ran(3, 0, 0).with_remark("of the matrix left out: 1.29".into()))]);
        assert!(report.to_string().contains("\n                  of the matrix left out: 1.29\ntotal "), "{report}");
        assert_last_line(report, "3 passed, 0 failed");
    }

    #[test]
    fn fault_of_a_group_fails_the_run() {
        assert_last_line(report(vec![(Group::Cluster, ran(3, 0, 0).with_fault("no table".into()))]), "3 passed, 1 failed");
    }

    #[test]
    fn failed_tests_fail_the_run() {
        let failed = Outcome::ran(Tally { passed: 1, failed: 2, ignored: 0 }, Some("exit status: 101".into()), SECOND);
        assert_last_line(report(vec![(Group::Unit, ran(4, 0, 0)), (Group::It, failed)]), "5 passed, 2 failed");
    }

    #[test]
    fn group_without_a_test_fails_the_run() {
        assert_last_line(report(vec![(Group::It, ran(0, 0, 0))]), "0 passed, 1 failed");
    }

    #[test]
    fn ignored_test_fails_the_run() {
        assert_last_line(report(vec![(Group::It, ran(2, 0, 1))]), "2 passed, 1 failed");
    }

    #[test]
    fn test_binary_that_dies_fails_the_run() {
        let died = Outcome::ran(Tally { passed: 5, failed: 0, ignored: 0 }, Some("signal: 6 (SIGABRT)".into()), SECOND);
        assert_last_line(report(vec![(Group::Unit, died)]), "5 passed, 1 failed");
    }

    #[test]
    fn required_group_that_is_left_out_fails_the_run() {
        let left_out = Outcome::LeftOut { reason: "go is not on PATH".into(), required: true };
        assert_last_line(report(vec![(Group::Unit, ran(1, 0, 0)), (Group::Cluster, left_out)]), "1 passed, 1 failed");
    }

    #[test]
    fn broken_build_fails_the_run() {
        let mut report = Report::default();
        report.add_broken_build();
        assert_last_line(report, "0 passed, 1 failed");
    }

    #[test]
    fn failed_tests_stand_below_the_table_with_their_messages() {
        let mut failures = Failures::default();
        failures.take("---- a::b stdout ----");
        failures.take("Error: no such file");
        let outcome = Outcome::ran(Tally { passed: 1, failed: 1, ignored: 0 }, Some("exit status: 101".to_owned()), SECOND);
        let report = report(vec![(Group::It, outcome.with_failures(failures.into_found()))]).to_string();
        assert!(report.ends_with("\n                  failure in it: a::b: Error: no such file\n1 passed, 1 failed\n"), "{report}");
    }

    #[test]
    fn each_group_reports_its_number_of_tests() {
        let sentence = Outcome::ran(Tally { passed: 2, failed: 1, ignored: 0 }, None, SECOND).sentence(Group::It);
        assert_eq!(sentence, "== it: 3 tests ran in 1.0 s, 1 failed");
    }

    fn ran(passed: usize, failed: usize, ignored: usize) -> Outcome {
        Outcome::ran(Tally { passed, failed, ignored }, None, SECOND)
    }

    fn report(groups: Vec<(Group, Outcome)>) -> Report {
        Report { groups, ..Report::default() }
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "each test makes one report and looks at it once")]
    fn assert_last_line(report: Report, expected: &str) {
        assert_eq!(report.to_string().lines().last(), Some(expected), "{report}");
        assert_eq!(report.is_success(), expected.ends_with(" 0 failed"));
    }
}
