//! Determines the part that runs of the long tests: the usual part, a sample that a number selects, or everything.
//!
//! These are the matrix of API servers, the kernels of virtual machines, the churn, the quiet, the faults and the soak. A sample depends
//! only on its number, so the same number runs the same tests. Consecutive numbers, such as the days on which CI runs, cover all tests.

use super::group::Group;
use super::kernels::Kernels;
use super::matrix::{MINORS, Matrix};

/// The names of the tests in `tests/faults/faults.rs`.
const FAULTS: [&str; 20] = [
    "server_killed",
    "server_terminated",
    "server_stopped",
    "etcd_stopped",
    "refused",
    "reset",
    "reset_at_once",
    "half_close",
    "silence",
    "go_away",
    "go_away_to_all",
    "stream_reset",
    "too_many_requests",
    "internal_error",
    "expired",
    "too_large",
    "slow_reader",
    "client_gone",
    "watchtap_terminated",
    "watchtap_killed",
];

/// Number of samples that together have all faults: one sample has the faults with even indices, the next those with odd ones.
const SHARES_OF_FAULTS: u64 = 2;

/// A group, or one test of it, that only some samples have: those whose number leaves one of these remainders. These tests wait or build
/// for minutes, and CI has time for a few of them each day.
struct Turn {
    group: Group,
    /// The test; `None` for all of the group.
    test: Option<&'static str>,
    divisor: u64,
    remainders: &'static [u64],
    /// Whether a usual run has it, too.
    is_usual: bool,
}

impl Turn {
    const fn of_group(group: Group, divisor: u64, remainders: &'static [u64]) -> Self {
        Self { group, test: None, divisor, remainders, is_usual: true }
    }

    const fn of_test(group: Group, test: &'static str, divisor: u64, remainders: &'static [u64]) -> Self {
        Self { group, test: Some(test), divisor, remainders, is_usual: true }
    }

    /// A test for which a usual run would build an API server that nothing else in it needs.
    const fn of_rare_test(group: Group, test: &'static str, divisor: u64, remainders: &'static [u64]) -> Self {
        Self { is_usual: false, ..Self::of_test(group, test, divisor, remainders) }
    }

    fn is_in(&self, number: u64) -> bool {
        self.remainders.contains(&(number % self.divisor))
    }

    /// The samples that have it, as in `a sample has it if its number modulo 4 is 1, 2 or 3`.
    fn when(&self) -> String {
        let remainders: Vec<String> = self.remainders.iter().map(u64::to_string).collect();
        let remainders = match remainders.split_last() {
            Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => remainders.concat(),
        };
        format!("a sample has it if its number modulo {} is {remainders}", self.divisor)
    }

    /// The remark on a test that this part does not have.
    fn remark(&self, extent: Extent) -> Option<String> {
        let when = if extent == Extent::Usual { "--everything runs it".to_owned() } else { self.when() };
        self.test.map(|test| format!("left out: {test}; {when}"))
    }
}

/// Every fourth sample has a minor of the matrix, for which CI builds an API server; the others have more of the rest.
const TURNS: [Turn; 19] = [
    Turn::of_test(Group::Kubectl, "churn_kubectl::churn::proxied_and_direct_controllers_agree_and_leak_no_resources", 2, &[1]),
    Turn::of_test(Group::Stories, "quiet::quiet_informers_raise_no_finding", 2, &[1]),
    Turn::of_group(Group::Soak, 2, &[1]),
    // It builds a program as it is released. So does the kernel for arm64, in the samples between these.
    Turn::of_group(Group::Image, 8, &[1]),
    Turn::of_group(Group::Vm, 4, &[1, 2, 3]),
    Turn::of_group(Group::Collector, 4, &[2, 3]),
    // These have an API server of 1.31, which takes minutes to build.
    Turn::of_test(Group::Cluster, "verify::older_server_agrees_with_the_rules_of_its_own_version", 4, &[2, 3]),
    Turn::of_test(Group::Stories, "rows::verdict_of_every_list_form_matches_the_counters_of_an_older_server", 4, &[2, 3]),
    Turn::of_test(Group::Stories, "streaming_lists::refused_streaming_list_is_reported_with_its_fallback", 4, &[2, 3]),
    Turn::of_test(
        Group::Stories,
        "incidents::many::thirty_agents_that_only_list_read_all_pods_from_etcd_for_each_node",
        4,
        &[2, 3],
    ),
    // On the node, the same clients do the same in real pods.
    Turn::of_test(
        Group::Cluster,
        "pod_layout::rotation::clients_in_pods_follow_a_rotated_token_and_make_the_same_calls_as_without_watchtap",
        4,
        &[3],
    ),
    Turn::of_test(Group::Node, "probe::rights::each_capability_of_the_chart_is_needed_for_what_the_check_names", 4, &[2]),
    Turn::of_test(
        Group::Node,
        "probe::coverage::each_probe_observes_the_clients_that_its_check_names_and_two_count_the_same",
        4,
        &[1],
    ),
    Turn::of_test(
        Group::Node,
        "probe::control_plane::probe_of_the_control_plane_observes_clients_that_no_other_probe_sees",
        4,
        &[3],
    ),
    Turn::of_test(Group::Kernel, "loss::ring_that_overflows_for_a_minute_counts_every_lost_byte", 4, &[3]),
    // Their API server is that of the minor in the same sample, so nothing more is built.
    Turn::of_rare_test(Group::Stories, "rows::verdict_of_every_list_form_matches_the_counters_of_1_29", 24, &[0]),
    Turn::of_rare_test(Group::Stories, "rows::verdict_of_every_list_form_matches_the_counters_of_1_36", 24, &[16]),
    // The name is also that of the same test with other flags.
    Turn::of_test(Group::Cluster, "injection::policy::same_pods::policy_makes_the_same_pods_as_admission", 24, &[16]),
    Turn::of_test(Group::Cluster, "injection::policy::cost::cost_of_large_pods_stays_within_the_limits", 24, &[16]),
];

/// One sample of so many has a minor of the matrix: those whose number it divides.
const MATRIX_EVERY: u64 = 4;

/// The environment variables for the durations of the churn, the soak and the quiet, and for the seed of the soak; `CONTRIBUTING.md` describes
/// them.
const CHURN_SECONDS: &str = "WATCHTAP_TESTS_CHURN_SECONDS";
const SOAK_SECONDS: &str = "WATCHTAP_TESTS_SOAK_SECONDS";
const SOAK_SEED: &str = "WATCHTAP_TESTS_SOAK_SEED";
const QUIET_SECONDS: &str = "WATCHTAP_TESTS_QUIET_SECONDS";

/// Seconds of churn in a sample. The test for growing memory is noisy in a run of 60 s, and reliable from 100 s on.
const SAMPLE_CHURN: u32 = 180;
/// Seconds of churn, and of soak, if everything runs.
const FULL_RUN: u32 = 600;
/// Seconds in which quiet informers may raise no finding, if everything runs.
const FULL_QUIET: u32 = 1_800;

/// The part of the long tests that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// For a developer who waits for the result: all faults, two minutes of churn, two minors, and one kernel.
    #[default]
    Usual,
    /// For CI: half of the faults, selected by the number. Also, if [`MATRIX_EVERY`] divides it, one minor; if it is odd, the soak, the
    /// quiet, and a churn that is long enough for a reliable result. Each takes some minutes of the time that CI has.
    Sample(u64),
    /// All minors and all faults, ten minutes each of churn and soak, and thirty of quiet.
    Everything,
}

impl Extent {
    /// The default for the minors of the matrix.
    pub(crate) fn matrix(self) -> Matrix {
        match self {
            Self::Usual => Matrix::default(),
            Self::Sample(number) if number % MATRIX_EVERY != 0 => Matrix::of(&[]),
            Self::Sample(number) => Matrix::of(&[chosen(&MINORS, number / MATRIX_EVERY)]),
            Self::Everything => Matrix::of(&MINORS),
        }
    }

    /// The default for the kernels of virtual machines.
    pub(crate) fn kernels(self) -> Kernels {
        match self {
            Self::Usual => Kernels::default(),
            Self::Sample(number) => Kernels::of_sample(number),
            Self::Everything => Kernels::all(),
        }
    }

    /// The reason why this part has nothing of `group`, or `None` if it has.
    pub(crate) fn leaves_out(self, group: Group) -> Option<String> {
        let turn = self.turns_left_out(group).find(|turn| turn.test.is_none())?;
        Some(format!("{}; --only {} runs it", turn.when(), group.name()))
    }

    /// Arguments of a test binary of `group` that skip the tests that this part does not have.
    pub(crate) fn turn_skips(self, group: Group) -> impl Iterator<Item = String> {
        let tests = self.turns_left_out(group).filter_map(|turn| turn.test);
        tests.flat_map(|name| ["--skip".to_owned(), name.to_owned()])
    }

    fn turns_left_out(self, group: Group) -> impl Iterator<Item = &'static Turn> {
        TURNS.iter().filter(move |turn| match self {
            Self::Sample(number) => turn.group == group && !turn.is_in(number),
            Self::Usual => turn.group == group && !turn.is_usual,
            Self::Everything => false,
        })
    }

    /// The faults that do not run.
    pub(crate) fn faults_left_out(self) -> Vec<&'static str> {
        match self {
            Self::Usual | Self::Everything => Vec::new(),
            Self::Sample(number) => {
                let of_another_share = (0..).zip(FAULTS).filter(|(place, _)| place % SHARES_OF_FAULTS != number % SHARES_OF_FAULTS);
                of_another_share.map(|(_, name)| name).collect()
            }
        }
    }

    /// Arguments of the test binary that skip these faults.
    pub(crate) fn fault_skips(self) -> Vec<String> {
        let left_out = self.faults_left_out();
        // Without `--exact`, a name would also skip each test whose name contains it.
        let exact = (!left_out.is_empty()).then(|| "--exact".to_owned());
        let skips = left_out.into_iter().flat_map(|name| ["--skip".to_owned(), format!("faults::{name}")]);
        exact.into_iter().chain(skips).collect()
    }

    /// The environment variables for the tests, without those that the caller's environment has already (`is_set`).
    pub(crate) fn environment(self, is_set: impl Fn(&str) -> bool) -> Vec<(&'static str, String)> {
        let variables = match self {
            Self::Usual => Vec::new(),
            Self::Sample(number) => vec![(CHURN_SECONDS, SAMPLE_CHURN.to_string()), (SOAK_SEED, number.to_string())],
            Self::Everything => vec![
                (CHURN_SECONDS, FULL_RUN.to_string()),
                (SOAK_SECONDS, FULL_RUN.to_string()),
                (QUIET_SECONDS, FULL_QUIET.to_string()),
            ],
        };
        variables.into_iter().filter(|(name, _)| !is_set(name)).collect()
    }

    /// The remark on a group whose tests run for a shorter or a longer time than usual.
    pub(crate) fn remark(self, group: Group) -> Option<String> {
        let mut remarks: Vec<String> = self.turns_left_out(group).filter_map(|turn| turn.remark(self)).collect();
        let length = match (self, group) {
            (Self::Sample(_), _) if !remarks.is_empty() => None,
            (Self::Sample(_), Group::Kubectl) => Some(format!("a churn of {SAMPLE_CHURN} s; --everything: {FULL_RUN} s")),
            (Self::Usual | Self::Sample(_), Group::Stories) => Some(format!("a quiet of 240 s; --everything: {FULL_QUIET} s")),
            (Self::Sample(number), Group::Soak) => Some(format!("the faults of seed {number}; --everything: {FULL_RUN} s of them")),
            _ => None,
        };
        remarks.extend(length);
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }

    /// The first line of the output, if this is not the usual run.
    pub(crate) fn sentence(self) -> Option<String> {
        match self {
            Self::Usual => None,
            Self::Sample(number) => {
                Some(format!("sample {number}; the same tests again: --sample {number}; all of them: --everything"))
            }
            Self::Everything => {
                Some("everything: all minors, all kernels, all faults, ten minutes each of churn and soak".to_owned())
            }
        }
    }
}

/// The entry of a list that a number selects. Consecutive numbers select one entry after the other.
fn chosen<T: Copy, const N: usize>(list: &[T; N], number: u64) -> T {
    let place = usize::try_from(number % N as u64).unwrap_or_default();
    list[place]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn consecutive_samples_reach_every_minor_and_every_fault() {
        let minors: BTreeSet<String> = (7..31).map(|number| format!("{:?}", Extent::Sample(number).matrix())).collect();
        // The matrix of the other numbers is empty.
        assert_eq!(minors.len(), MINORS.len() + 1);
        let [even, odd] = [10, 11].map(|number| Extent::Sample(number).faults_left_out());
        assert_eq!(even.len() + odd.len(), FAULTS.len());
        assert!(even.iter().all(|name| !odd.contains(name)), "{even:?}, {odd:?}");
    }

    #[test]
    fn same_number_selects_the_same_tests() {
        assert_eq!(Extent::Sample(20_000).matrix(), Extent::Sample(20_000).matrix());
        assert_eq!(Extent::Sample(20_000).fault_skips(), Extent::Sample(20_002).fault_skips());
        assert_eq!(Extent::Sample(1).fault_skips()[..3], ["--exact", "--skip", "faults::server_killed"]);
    }

    #[test]
    fn no_sample_has_both_a_minor_and_the_long_runs() {
        for (number, has_a_minor, has_long_runs) in [(20_000, true, false), (20_001, false, true), (20_002, false, false)] {
            let sample = Extent::Sample(number);
            assert_eq!(sample.matrix() != Matrix::of(&[]), has_a_minor);
            assert_eq!(sample.leaves_out(Group::Soak).is_none(), has_long_runs);
            assert_eq!(sample.turn_skips(Group::Kubectl).count(), if has_long_runs { 0 } else { 2 });
            let skips: Vec<String> = sample.turn_skips(Group::Stories).collect();
            assert_eq!(!skips.contains(&"quiet::quiet_informers_raise_no_finding".to_owned()), has_long_runs);
        }
        let remark = Extent::Sample(2).remark(Group::Stories).unwrap();
        assert!(
            remark.starts_with("left out: quiet::quiet_informers_raise_no_finding; a sample has it if its number modulo 2 is 1; "),
            "{remark}"
        );
        assert_eq!(Extent::Sample(2).leaves_out(Group::It), None);
        let reason = "a sample has it if its number modulo 4 is 1, 2 or 3; --only vm runs it";
        assert_eq!(Extent::Sample(4).leaves_out(Group::Vm).as_deref(), Some(reason));
    }

    #[test]
    fn names_of_sampled_tests_match_the_tests() {
        let files = [
            "cluster/churn_kubectl/churn.rs",
            "stories/quiet.rs",
            "cluster/pod_layout/rotation.rs",
            "cluster/injection/policy/same_pods.rs",
            "cluster/injection/policy/cost.rs",
            "node/probe/rights.rs",
            "node/probe/coverage.rs",
            "node/probe/control_plane.rs",
            "cluster/verify.rs",
            "kernel/loss.rs",
            "stories/rows.rs",
            "stories/streaming_lists.rs",
            "stories/incidents/many.rs",
        ];
        let texts = files.map(|file| std::fs::read_to_string(crate::workspace::root().join("tests").join(file)).unwrap());
        for test in TURNS.iter().filter_map(|turn| turn.test) {
            let name = test.rsplit("::").next().unwrap();
            assert!(texts.iter().any(|text| text.contains(&format!("fn {name}("))), "{test}");
        }
    }

    #[test]
    fn consecutive_samples_have_all_that_take_turns() {
        for turn in &TURNS {
            let leaves_out =
                |number: &u64| Extent::Sample(*number).turns_left_out(turn.group).any(|left_out| left_out.test == turn.test);
            assert!((20_000..20_024).filter(leaves_out).count() < 24, "no sample has {} {:?}", turn.group.name(), turn.test);
        }
    }

    #[test]
    fn tests_of_a_minor_run_beside_the_matrix_of_that_minor() {
        for (group, test, minor) in [
            (Group::Cluster, "injection::policy::", "1.36"),
            (Group::Stories, "rows::verdict_of_every_list_form_matches_the_counters_of_1_29", "1.29"),
            (Group::Stories, "rows::verdict_of_every_list_form_matches_the_counters_of_1_36", "1.36"),
        ] {
            for number in 0..48 {
                let sample = Extent::Sample(number);
                let is_it = |turn: &&Turn| turn.test.is_some_and(|name| name.starts_with(test));
                let left_out = sample.turns_left_out(group).filter(is_it).count();
                assert_eq!(left_out == 0, sample.matrix() == Matrix::of(&[minor]), "{test} {number}");
            }
        }
    }

    #[test]
    fn arm64_is_booted_beside_no_other_build_of_a_program() {
        let have_arm64: Vec<u64> = (0..24).filter(|number| Extent::Sample(*number).kernels().have_arm64()).collect();
        assert_eq!(have_arm64.len(), 3);
        for sample in have_arm64.into_iter().map(Extent::Sample) {
            assert_eq!((sample.matrix(), sample.leaves_out(Group::Vm)), (Matrix::of(&[]), None));
            assert!(sample.leaves_out(Group::Image).is_some());
        }
    }

    #[test]
    fn full_extent_skips_nothing() {
        assert!(Extent::Everything.matrix().is_complete());
        assert_eq!(Extent::Everything.fault_skips(), Vec::<String>::new());
        assert_eq!(Extent::Usual.fault_skips(), Vec::<String>::new());
        for group in Group::ALL {
            assert_eq!((Extent::Everything.turn_skips(group).count(), Extent::Everything.leaves_out(group)), (0, None));
            let rare = if group == Group::Stories { 2 } else { 0 };
            assert_eq!((Extent::Usual.turn_skips(group).count(), Extent::Usual.leaves_out(group)), (2 * rare, None));
        }
    }

    #[test]
    fn variables_set_by_the_caller_are_kept() {
        let set = |name: &str| name == CHURN_SECONDS;
        assert_eq!(Extent::Sample(3).environment(set), [(SOAK_SEED, "3".to_owned())]);
        assert_eq!(Extent::Sample(3).environment(|_| false).len(), 2);
        assert_eq!(Extent::Usual.environment(|_| false), []);
    }

    #[test]
    fn fault_names_match_the_tests() {
        let file = crate::workspace::root().join("tests/faults/faults.rs");
        let text = std::fs::read_to_string(file).unwrap();
        let tests: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("fn ")?.split_once('(')).map(|(name, _)| name).collect();
        assert_eq!(tests, FAULTS);
    }
}
