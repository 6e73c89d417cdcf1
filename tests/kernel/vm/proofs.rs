//! The commands that run in each kernel, and what they prove.

use std::time::Duration;

use observer_tests::{Step, VmKernel};

/// The requirements of the probe.
pub(super) const CHECK: &str = "`probe --check`";

/// The streams of all clients, with a row for each.
pub(super) const STREAMS: &str = "streams";

/// Tests of this binary, with what each proves. That of a connection compares the requests that the probe reports with those that were sent.
const TESTS: [(&str, &str); 4] = [
    (STREAMS, "vm::streams::streams_are_those_of_the_proxy"),
    ("Go, HTTP/2, open before the probe", "older_connections::open_net_http_connection_is_identified_at_its_next_request"),
    ("seen and lost bytes are all", "loss::lost_bytes_are_counted_in_total"),
    ("SIGKILL leaves nothing", "command::killed_probe_leaves_nothing_in_the_kernel"),
];
/// Tests of this binary that only [`VmKernel::V6_1`] runs: the features that a kernel between it and 5.10 has, which Debian does not
/// offer. The first one is the kernel of Ubuntu 22.04, and the second one that of RHEL 9.
const IN_BETWEEN: [(&str, &str); 2] = [
    ("streams with features of 5.15", "vm::streams::streams_by_perf_events_with_links_are_those_of_the_proxy"),
    ("streams with features of 5.14", "vm::streams::streams_by_perf_events_with_copies_of_the_programs_are_those_of_the_proxy"),
];
/// A test of this binary that only [`VmKernel::V5_10`] runs, because later kernels do not count the memory of maps as locked memory.
const BEFORE_5_11: (&str, &str) =
    ("`CAP_SYS_RESOURCE` is needed", "check::low_limit_of_locked_memory_matters_only_before_linux_5_11_and_without_sys_resource");
/// Time limit of a command. Alone on two processors, each takes less than a minute; beside other groups, some minutes.
pub(super) const LIMIT: Duration = Duration::from_mins(6);

/// The program of this build, as virtual machines with the root of this machine find it.
pub(super) fn watchtap() -> String {
    observer_tests::watchtap().unwrap().get_program().to_str().unwrap().to_owned()
}

/// `watchtap probe --check`, which works in every kernel.
pub(super) fn check(watchtap: &str) -> Step {
    let command = [watchtap, "probe", "--check", "--format", "json"].map(str::to_owned).into();
    Step { name: CHECK, command, limit: LIMIT }
}

/// The tests, for a kernel in which the probe runs.
pub(super) fn tests(kernel: VmKernel) -> impl Iterator<Item = Step> {
    let binary = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let in_between = IN_BETWEEN.into_iter().filter(move |_| kernel == VmKernel::V6_1);
    let before = (kernel == VmKernel::V5_10).then_some(BEFORE_5_11);
    TESTS.into_iter().chain(before).chain(in_between).map(move |(name, test)| {
        let command = [&binary, "--exact", "--nocapture", "--test-threads", "1", test].map(str::to_owned).into();
        Step { name, command, limit: LIMIT }
    })
}
