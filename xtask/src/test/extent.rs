//! Determines the part that runs of the long tests: the usual part, a sample that a number selects, or everything.
//!
//! These are the matrix of API servers, the kernels of virtual machines, the churn, the quiet, the faults and the soak. A sample depends only on its number, so the
//! same number runs the same tests. Consecutive numbers, such as the days on which CI runs, cover all tests.

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

/// A group, or one test of it, that only some samples have: those whose number leaves this remainder. These tests wait or build for
/// minutes, and CI has time for a few of them each day.
struct Turn {
    group: Group,
    /// The test; `None` for all of the group.
    test: Option<&'static str>,
    divisor: u64,
    remainder: u64,
}

impl Turn {
    /// The remark on a test that a sample does not have.
    fn remark(&self) -> Option<String> {
        let Self { test, divisor, remainder, .. } = self;
        test.map(|test| format!("left out: {test}; a sample has it if its number modulo {divisor} is {remainder}"))
    }
}

/// Samples with an even number have a minor of the matrix instead.
const TURNS: [Turn; 9] = [
    Turn {
        group: Group::Kubectl,
        test: Some("churn_kubectl::churn::proxied_and_direct_controllers_agree_and_leak_no_resources"),
        divisor: 2,
        remainder: 1,
    },
    Turn { group: Group::Stories, test: Some("quiet::quiet_informers_raise_no_finding"), divisor: 2, remainder: 1 },
    Turn { group: Group::Soak, test: None, divisor: 2, remainder: 1 },
    Turn { group: Group::Image, test: None, divisor: 4, remainder: 1 },
    // On the node, the same clients do the same in real pods.
    Turn {
        group: Group::Cluster,
        test: Some("pod_layout::rotation::clients_in_pods_follow_a_rotated_token_and_make_the_same_calls_as_without_watchtap"),
        divisor: 4,
        remainder: 3,
    },
    Turn {
        group: Group::Node,
        test: Some("probe::rights::each_capability_of_the_chart_is_needed_for_what_the_check_names"),
        divisor: 4,
        remainder: 0,
    },
    Turn {
        group: Group::Node,
        test: Some("probe::control_plane::probe_of_the_control_plane_observes_clients_that_no_other_probe_sees"),
        divisor: 4,
        remainder: 2,
    },
    // Their API server is that of the minor in the same sample, so nothing more is built. The first name is also that of the same test
    // with other flags.
    Turn {
        group: Group::Cluster,
        test: Some("injection::policy::same_pods::policy_makes_the_same_pods_as_admission"),
        divisor: 12,
        remainder: 8,
    },
    Turn {
        group: Group::Cluster,
        test: Some("injection::policy::cost::cost_of_large_pods_stays_within_the_limits"),
        divisor: 12,
        remainder: 8,
    },
];

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
    /// For CI: half of the faults, selected by the number. Also, if it is even, one minor; if it is odd, the soak, the quiet, and a
    /// churn that is long enough for a reliable result. Either takes some minutes of the time that CI has.
    Sample(u64),
    /// All minors and all faults, ten minutes each of churn and soak, and thirty of quiet.
    Everything,
}

impl Extent {
    /// The default for the minors of the matrix.
    pub(crate) fn matrix(self) -> Matrix {
        match self {
            Self::Usual => Matrix::default(),
            Self::Sample(number) if number % 2 == 1 => Matrix::of(&[]),
            Self::Sample(number) => Matrix::of(&[chosen(&MINORS, number / 2)]),
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
        let Turn { divisor, remainder, .. } = self.turns_left_out(group).find(|turn| turn.test.is_none())?;
        Some(format!("a sample has it if its number modulo {divisor} is {remainder}; --only {} runs it", group.name()))
    }

    /// Arguments of a test binary of `group` that skip the tests that this part does not have.
    pub(crate) fn turn_skips(self, group: Group) -> impl Iterator<Item = String> {
        let tests = self.turns_left_out(group).filter_map(|turn| turn.test);
        tests.flat_map(|name| ["--skip".to_owned(), name.to_owned()])
    }

    fn turns_left_out(self, group: Group) -> impl Iterator<Item = &'static Turn> {
        TURNS.iter().filter(move |turn| match self {
            Self::Sample(number) => turn.group == group && number % turn.divisor != turn.remainder,
            Self::Usual | Self::Everything => false,
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
        let left_out: Vec<String> = self.turns_left_out(group).filter_map(Turn::remark).collect();
        match (self, group) {
            (Self::Sample(_), _) if !left_out.is_empty() => Some(left_out.join("; ")),
            (Self::Sample(_), Group::Kubectl) => Some(format!("a churn of {SAMPLE_CHURN} s; --everything: {FULL_RUN} s")),
            (Self::Usual | Self::Sample(_), Group::Stories) => Some(format!("a quiet of 240 s; --everything: {FULL_QUIET} s")),
            (Self::Sample(number), Group::Soak) => Some(format!("the faults of seed {number}; --everything: {FULL_RUN} s of them")),
            _ => None,
        }
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
        let minors: BTreeSet<String> = (7..19).map(|number| format!("{:?}", Extent::Sample(number).matrix())).collect();
        // The matrix of the odd numbers is empty.
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
    fn sample_has_either_a_minor_or_the_long_runs() {
        for number in [20_000, 20_001] {
            let sample = Extent::Sample(number);
            let has_a_minor = sample.matrix() != Matrix::of(&[]);
            assert_eq!(sample.leaves_out(Group::Soak).is_some(), has_a_minor);
            assert_eq!(sample.turn_skips(Group::Kubectl).count(), if has_a_minor { 2 } else { 0 });
            assert_eq!(sample.turn_skips(Group::Stories).count(), if has_a_minor { 2 } else { 0 });
        }
        let remark = "left out: quiet::quiet_informers_raise_no_finding; a sample has it if its number modulo 2 is 1";
        assert_eq!(Extent::Sample(2).remark(Group::Stories).as_deref(), Some(remark));
        assert_eq!(Extent::Sample(2).leaves_out(Group::It), None);
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
            "node/probe/control_plane.rs",
        ];
        let texts = files.map(|file| std::fs::read_to_string(crate::workspace::root().join("tests").join(file)).unwrap());
        for test in TURNS.iter().filter_map(|turn| turn.test) {
            let name = test.rsplit("::").next().unwrap();
            assert!(texts.iter().any(|text| text.contains(&format!("fn {name}("))), "{test}");
        }
    }

    #[test]
    fn twelve_consecutive_samples_have_all_that_take_turns() {
        for turn in &TURNS {
            let leaves_out =
                |number: &u64| Extent::Sample(*number).turns_left_out(turn.group).any(|left_out| left_out.test == turn.test);
            assert!((20_000..20_012).filter(leaves_out).count() < 12, "no sample has {} {:?}", turn.group.name(), turn.test);
        }
    }

    #[test]
    fn policy_is_tested_beside_the_minor_that_it_needs() {
        let is_of_policy = |turn: &&Turn| turn.test.is_some_and(|test| test.starts_with("injection::policy::"));
        for number in 0..24 {
            let sample = Extent::Sample(number);
            let left_out = sample.turns_left_out(Group::Cluster).filter(is_of_policy).count();
            assert_eq!(left_out == 0, sample.matrix() == Matrix::of(&["1.36"]), "{number}");
        }
    }

    #[test]
    fn full_extent_skips_nothing() {
        assert!(Extent::Everything.matrix().is_complete());
        assert_eq!(Extent::Everything.fault_skips(), Vec::<String>::new());
        assert_eq!(Extent::Usual.fault_skips(), Vec::<String>::new());
        for group in Group::ALL {
            for extent in [Extent::Usual, Extent::Everything] {
                assert_eq!((extent.turn_skips(group).count(), extent.leaves_out(group)), (0, None));
            }
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
