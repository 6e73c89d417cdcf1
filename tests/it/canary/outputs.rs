//! All of watchtap's outputs: the source files that open a file, a socket or a stream, and the runs that search the results. A
//! house rule (`xtask/src/tidy/canary.rs`) reports files missing here.

/// A source file, and the runs of [`super::runs`] that use it. If there are no runs, the last column is the reason why the file has
/// no output to search.
pub(super) const OUTPUTS: &[(&str, &[&str], &str)] = &[
    ("observer/src/api_server/credentials.rs", &["exec"], "opens token files"),
    (
        "observer/src/bounded_file.rs",
        &[
            "exec with broken YAML",
            "exec with a budget of something else",
            "exec in a demo cluster with objects of something else",
            "demo with a script of something else",
        ],
        "opens kubeconfigs, budgets, scripts and objects; what it says of them",
    ),
    ("observer/src/capture/file.rs", &["exec", "run", "demo"], "captures"),
    ("observer/src/capture/reading.rs", &["read", "read what is no capture"], "opens captures; what it says of them"),
    ("observer/src/cli/flags/budget.rs", &["exec"], "budgets"),
    ("observer/src/cli/command_line.rs", &["exec with a budget of something else"], "usage errors and help"),
    ("observer/src/cli/completions.rs", &["completions"], "the script"),
    (
        "observer/src/cli/demo.rs",
        &["demo --list", "demo --print-script", "demo with a script of something else"],
        "what is no script",
    ),
    ("observer/src/cli/credential.rs", &["credential", "credential of nobody"], "the plugin's credential, which is the client's"),
    (
        "observer/src/cli/explain/command.rs",
        &[
            "explain",
            "explain as JSON",
            "explain nothing",
            "explain a URL",
            "explain a command",
            "explain a resource",
            "explain a resource of all namespaces",
            "explain with a wrong word",
        ],
        "the explanation, and errors about the input",
    ),
    ("observer/src/cli/follow.rs", &["run", "run behind a proxy", "demo"], "live lines"),
    ("observer/src/cli/guidance.rs", &["run", "run behind a proxy", "demo"], "first lines"),
    (
        "observer/src/cli/injection/outputs.rs",
        &[],
        "the user's manifests, which `inject` hands on with all that they hold; `tests/it/inject_cli.rs` searches its reports",
    ),
    ("observer/src/cli/logging.rs", &["exec", "run", "demo", "verify"], "the log"),
    ("observer/src/cli/probe.rs", &[], "first lines: `tests/kernel` puts canaries in and seeks them in all that a probe leaves"),
    (
        "observer/src/cli/probe_check.rs",
        &[],
        "names of processes and files of this machine, and words of its kernel: it sees no traffic, and `tests/kernel` runs it",
    ),
    ("observer/src/cli/progress_line.rs", &["verify"], "what is being done, on a terminal"),
    ("observer/src/cli/output.rs", &["exec", "run", "read"], "messages, events"),
    (
        "observer/src/cli/panic_message.rs",
        &[],
        "where we panicked, without its words: `tests/panics` provokes some that hold canaries, and seeks them as here",
    ),
    ("observer/src/child/command.rs", &[], "hands the file of `--output` to the command"),
    ("observer/src/cli/exec_page.rs", &[], "the file of `--output`, into which the command writes, and not watchtap"),
    ("observer/src/cli/flags/report.rs", &["exec", "run", "read", "read as text"], "reports"),
    ("observer/src/cli/shown.rs", &["run", "demo"], "live lines"),
    ("observer/src/cli/verify.rs", &["verify"], "the rows, and progress"),
    ("observer/src/exec_plugin/plugin.rs", &["verify by a plugin"], "reads what plugins print"),
    ("observer/src/credential/server.rs", &["credential"], "the private socket of the run"),
    ("observer/src/demo/serve/life.rs", &["demo"], "the demo's listener"),
    ("observer/src/demo/serve/port.rs", &["demo"], "the demo's listener"),
    ("observer/src/injected_fault.rs", &[], "the words of a panic for `tests/panics`, in no build that ships"),
    ("observer/src/kubeconfig/run_folder.rs", &["exec", "run", "demo"], "the client's kubeconfig"),
    ("observer/src/kubeconfig/selected.rs", &[], "names a variant `File`, and opens none"),
    ("observer/src/lib.rs", &[], "names the module"),
    ("observer/src/metrics/server.rs", &["run", "exec", "demo", "read"], "the listener of metrics"),
    (
        "observer/src/otlp/collector.rs",
        &["run with an export", "exec with an export", "demo with a password for a collector"],
        "requests to a collector, and what is reported of its answers",
    ),
    ("observer/src/printable/held_stderr.rs", &["exec", "run", "demo"], "messages and the log, held back while there is a page"),
    ("observer/src/printable/mod.rs", &[], "names the streams"),
    ("observer/src/printable/streams.rs", &["exec", "run", "read", "verify", "credential"], "all text on the standard streams"),
    ("observer/src/private_file.rs", &["exec", "run", "demo", "read"], "all files that flags ask for"),
    (
        "observer/src/session/pod/folder.rs",
        &[],
        "files of a pod, which have certificates and a key, and nothing that came through watchtap: `tests/it/in_cluster.rs` seeks a token \
         in them",
    ),
    ("observer/src/tap/probe/binary/named.rs", &[], "opens libraries, to read"),
    ("observer/src/tap/probe/binary/read_program.rs", &[], "opens programs, to read"),
    ("observer/src/tap/probe/find/opened_file.rs", &[], "opens programs, to read"),
    ("observer/src/tap/proxy/port.rs", &["exec", "run"], "the listeners"),
    ("observer/src/terminal/modes.rs", &[], "looks whether there is a terminal"),
    ("observer/src/terminal/note_file.rs", &[], "notes of the page, which have of a snapshot less than the report"),
    ("observer/src/terminal/screen.rs", &[], "the page, which shows of a snapshot less than the report"),
    ("observer/src/verification/log_tail.rs", &["verify", "verify with a log of something else"], "opens logs of servers"),
];

/// Commands that are not run here, and the tests that search their outputs.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("inject", "hands the user's manifests on, and sees no traffic: `tests/it/inject_cli.rs` searches its reports"),
    ("probe", "needs rights and a kernel: `tests/kernel`"),
    ("uninject", "as `inject`"),
];

/// Flags without an output of their own, and the reason.
pub(super) const NO_OUTPUT: &[(&str, &str)] = &[
    ("context", "chooses an entry of the kubeconfig"),
    ("upstream", "names the API server; errors that quote it are in the runs"),
    ("upstream-ca", "names a file of certificates"),
    ("upstream-insecure", "changes how TLS is checked"),
    ("via", "changes a field of the client's kubeconfig"),
    ("listen", "an address"),
    ("server-version", "a version"),
    ("gate", "a name and a boolean"),
    ("etcd-version", "a version"),
    ("uncached", "a resource"),
    ("aggregated", "an API group"),
    ("no-version-request", "asks less"),
    ("no-metrics-request", "asks less"),
    ("or-demo", "leads to the demo, which is run"),
    (
        "in-cluster",
        "needs the folders of a pod: `tests/it/in_cluster.rs` makes them, and seeks a token in all that such a run leaves",
    ),
    ("container", "a name and a port"),
    ("page", "needs a terminal; it shows of a snapshot less than the report"),
    ("output", "names the file into which the command writes"),
    ("lines", "is what is printed without a terminal"),
    ("quiet", "prints less"),
    ("mute", "prints less"),
    ("help", "prints constants"),
    ("version", "prints constants"),
];
