//! Every watchtap command, as the canary tests run it. [`super::coverage`] compares this list with the command line itself.

/// One call of watchtap. In its arguments, `@left` is the working folder for output files, which is searched, and `@given` is the
/// folder of the user's files.
pub(super) struct Run {
    /// Its name in [`super::outputs`].
    pub(super) name: &'static str,
    /// Text on either stream that shows that the run reached the secret; empty if it differs between tests.
    pub(super) shows: &'static str,
    pub(super) arguments: &'static [&'static str],
}

pub(super) const EXEC: Run = Run {
    name: "exec",
    shows: "",
    arguments: &[
        "exec",
        "--kubeconfig",
        "@given/kubeconfig",
        "--format",
        "json",
        "--report",
        "@left/exec-report",
        "--events",
        "@left/exec-events",
        "--capture",
        "@left/exec-capture",
        "--write-budget",
        "@left/exec-budget",
        "--metrics",
        "127.0.0.1:0",
        "--capture-max-size",
        "64KiB",
        "--capture-files",
        "9",
        "--",
        "sh",
        "-c",
        "umask 077; cat /proc/$$/environ /proc/$$/cmdline >@left/exec-command; echo \"$KUBECONFIG\"; read -r line; exit 0",
    ],
};
pub(super) const RUN: Run = Run {
    name: "run",
    shows: "",
    arguments: &[
        "run",
        "--kubeconfig",
        "@given/kubeconfig",
        "--format",
        "text",
        "--report",
        "@left/run-report",
        "--events",
        "@left/run-events",
        "--capture",
        "@left/run-capture",
        "--metrics",
        "127.0.0.1:0",
        "--attach-socket",
        "@left/run.sock",
        "--audit-log",
        "@given/audit.log",
        "--capture-max-size",
        "64KiB",
        "--capture-files",
        "9",
    ],
};
/// Processes that attach to the run `run`.
pub(super) const ATTACH: &[Run] = &[
    Run {
        name: "attach",
        shows: "",
        arguments: &["attach", "--socket", "@left/run.sock", "--format", "json", "--report", "@left/attached-report"],
    },
    Run { name: "attach as text", shows: "watchtap run   ", arguments: &["attach", "--socket", "@left/run.sock"] },
];
pub(super) const RUN_THROUGH_PROXY: Run =
    Run { name: "run behind a proxy", shows: "", arguments: &["run", "--kubeconfig", "@given/behind-proxy", "--grace", "0s"] };
/// A run with a server that only the proxy in the environment can reach.
pub(super) const RUN_BY_PROXY: Run = Run {
    name: "run by a proxy of the environment",
    shows: "",
    arguments: &["run", "--kubeconfig", "@given/far", "--grace", "0s", "--report", "@left/far-run-report"],
};
pub(super) const BY_PROXY: &[Run] = &[
    Run {
        name: "exec by a proxy of the environment",
        shows: "",
        arguments: &[
            "exec",
            "--kubeconfig",
            "@given/far",
            "--report",
            "@left/far-exec-report",
            "--capture",
            "@left/far-capture",
            "--",
            "true",
        ],
    },
    Run {
        name: "verify by a proxy of the environment",
        shows: "",
        arguments: &["verify", "--kubeconfig", "@given/far", "--resource", "roles.rbac.authorization.k8s.io"],
    },
];
pub(super) const DEMO: Run = Run {
    name: "demo",
    shows: "",
    arguments: &[
        "demo",
        "--speed",
        "50",
        "--format",
        "json",
        "--report",
        "@left/demo-report",
        "--events",
        "@left/demo-events",
        "--capture",
        "@left/demo-capture",
        "--metrics",
        "127.0.0.1:0",
        "--capture-max-size",
        "1MiB",
        "--capture-files",
        "2",
        "--grace",
        "0s",
    ],
};
/// A run whose variables name a collector, and a token for it.
pub(super) const RUN_EXPORTING: Run = Run {
    name: "run with an export",
    shows: "",
    arguments: &["run", "--kubeconfig", "@given/kubeconfig", "--grace", "0s", "--otlp-spans", "--otlp"],
};
/// A run whose variables hold a token, without a collector that takes records.
pub(super) const EXEC_EXPORTING: Run = Run {
    name: "exec with an export",
    shows: "OTLP",
    arguments: &["exec", "--kubeconfig", "@given/kubeconfig", "--otlp-spans", "--otlp", "--", "true"],
};
/// Replays the capture of the run `exec`.
pub(super) const READ: &[Run] = &[
    Run {
        name: "read",
        shows: "",
        arguments: &[
            "read",
            "@left/exec-capture",
            "--format",
            "json",
            "--report",
            "@left/read-report",
            "--events",
            "@left/read-events",
            "--metrics",
            "127.0.0.1:0",
        ],
    },
    Run {
        name: "read as text",
        shows: "watchtap.events/v1",
        arguments: &["read", "@left/exec-capture", "--speed", "1000", "--events", "-"],
    },
    Run {
        name: "read against",
        shows: "did not change",
        arguments: &["read", "@left/exec-capture", "--against", "@left/exec-capture", "--format", "text", "--max-memory", "64MiB"],
    },
    Run {
        name: "read as Markdown",
        shows: "**Not observed:**",
        arguments: &["read", "@left/exec-capture", "--format", "markdown", "--mute", "poller:"],
    },
    Run {
        name: "read against as Markdown",
        shows: "| measure |",
        arguments: &["read", "@left/exec-capture", "--against", "@left/exec-capture", "--format", "markdown"],
    },
    Run {
        name: "read beside a log",
        shows: "\"joined\"",
        arguments: &["read", "@left/exec-capture", "--audit-log", "@given/audit.log", "--format", "json"],
    },
    Run { name: "read what is no capture", shows: "not a watchtap capture", arguments: &["read", "@given/kubeconfig"] },
];
/// Runs without a server.
pub(super) const ALONE: &[Run] = &[
    Run {
        name: "explain",
        shows: "/api/v1/pods?limit=5",
        arguments: &["explain", "GET https://u:@explained-url-password@x/api/v1/pods?limit=5&token=@explained-query"],
    },
    Run {
        name: "explain as JSON",
        shows: "watchtap.explain/v1",
        arguments: &[
            "explain",
            "GET https://u:@explained-url-password@x/api/v1/pods?token=@explained-query",
            "--format",
            "json",
            "--server-version",
            "1.34.2",
        ],
    },
    Run {
        name: "explain nothing",
        shows: "reads or writes no object",
        arguments: &["explain", "GET https://u:@explained-url-password@x/version?token=@explained-query"],
    },
    Run {
        name: "explain a URL",
        shows: "ignored       token (unknown to the API server)",
        arguments: &["explain", "https://u:@explained-url-password@x/api/v1/pods?token=@explained-query&@explained-query"],
    },
    Run {
        name: "explain a command",
        shows: "/api/v1/pods?limit=5",
        arguments: &[
            "explain",
            "$",
            "kubectl",
            "get",
            "--raw",
            "https://u:@explained-url-password@x/api/v1/pods?limit=5&token=@explained-query",
        ],
    },
    Run {
        name: "explain a resource",
        shows: "/api/v1/namespaces/default/pods",
        arguments: &["explain", "LIST", "pods?token=@explained-query", "--namespace", "default"],
    },
    Run {
        name: "explain a resource of all namespaces",
        shows: "/api/v1/pods",
        arguments: &["explain", "LIST", "pods?token=@explained-query", "--all-namespaces"],
    },
    Run {
        name: "explain with a wrong word",
        shows: "is not a method or verb",
        arguments: &["explain", "FETCH https://u:@explained-url-password@x/api/v1/pods?token=@explained-query"],
    },
    Run { name: "attach to a list", shows: "watchtap.attach/v1", arguments: &["attach", "--list", "--format", "json"] },
    Run { name: "attach to no run", shows: "no run can be reached", arguments: &["attach", "--socket", "@left/no-such-socket"] },
    Run { name: "completions", shows: "COMPREPLY", arguments: &["completions", "bash"] },
    Run { name: "demo --list", shows: "KINDS OF CLIENTS", arguments: &["demo", "--list"] },
    Run { name: "demo --print-script", shows: "repeat", arguments: &["demo", "--print-script"] },
    Run {
        name: "demo with a script of something else",
        shows: "kubeconfig:1: ",
        arguments: &["demo", "--script", "@given/kubeconfig"],
    },
    Run {
        name: "demo with a password for a collector",
        shows: "a user name in the URL is not supported",
        arguments: &["demo", "--otlp", "http://u:@otlp-url-password@x", "--otlp-spans"],
    },
    Run {
        name: "credential of nobody",
        shows: "cannot reach watchtap",
        arguments: &["credential", "--socket", "@left/no-such-socket", "--", "user"],
    },
    Run {
        name: "exec in a demo cluster with a script of something else",
        shows: "kubeconfig:1: ",
        arguments: &["exec", "--demo", "@given/kubeconfig", "--demo-speed", "2", "--", "true"],
    },
    Run {
        name: "exec in a demo cluster with objects of something else",
        shows: "an object has no metadata.name",
        arguments: &["exec", "--demo", "--demo-objects", "@given/kubeconfig", "--", "true"],
    },
    Run {
        name: "exec with a budget of something else",
        shows: "is not a budget",
        arguments: &["exec", "--kubeconfig", "@given/kubeconfig", "--budget", "@given/kubeconfig", "--", "true"],
    },
    Run {
        name: "exec with a bad token",
        shows: "token: expected a string",
        arguments: &["exec", "--kubeconfig", "@given/token-of-another-type", "--", "true"],
    },
    Run {
        name: "exec with a bad server",
        shows: "a user name in the address",
        arguments: &["exec", "--kubeconfig", "@given/password-in-server", "--", "true"],
    },
    Run {
        name: "exec with a bad proxy",
        shows: "the scheme of a proxy",
        arguments: &["exec", "--kubeconfig", "@given/bad-proxy", "--", "true"],
    },
    Run {
        name: "exec with a bad key",
        shows: "client-key-data: not base64",
        arguments: &["exec", "--kubeconfig", "@given/bad-key", "--", "true"],
    },
    Run {
        name: "exec with broken YAML",
        shows: "not valid YAML",
        arguments: &["exec", "--kubeconfig", "@given/broken", "--", "true"],
    },
    Run {
        name: "exec before a bad upstream",
        shows: "--upstream: server: a user name",
        arguments: &["exec", "--upstream", "https://u:@kubeconfig-server-password@x:6443", "--", "true"],
    },
    Run {
        name: "exec of a command with credentials",
        shows: "REDACTED",
        arguments: &[
            "exec",
            "--kubeconfig",
            "@given/kubeconfig",
            "--no-version-request",
            "--",
            "true",
            "--token=@flag-token",
            "--token",
            "@flag-token",
            "--password",
            "@flag-password",
            "--header",
            "Authorization: Bearer @argument-bearer",
            "https://u:@argument-url-password@x/api",
        ],
    },
];
/// Runs with a server that can be verified.
pub(super) const VERIFY: &[Run] = &[
    Run {
        name: "verify",
        shows: "\"tally\"",
        arguments: &[
            "verify",
            "--kubeconfig",
            "@given/verified",
            "--resource",
            "roles.rbac.authorization.k8s.io",
            "--shape",
            "RV=0, limit",
            "--audit-log",
            "@given/audit.log",
            "--format",
            "json",
        ],
    },
    Run {
        name: "read a log",
        shows: "not_understood",
        arguments: &["read", "@given/audit.log", "--format", "json", "--year", "2026", "--utc-offset", "+02:00"],
    },
    Run {
        name: "verify with a log of something else",
        shows: "contains none of the last reads",
        arguments: &[
            "verify",
            "--kubeconfig",
            "@given/verified",
            "--resource",
            "roles.rbac.authorization.k8s.io",
            "--shape",
            "RV=0, limit",
            "--etcd-log",
            "@given/etcd.log",
        ],
    },
];
/// A run in which watchtap itself calls the user's plugin.
pub(super) const VERIFY_BY_PLUG_IN: Run = Run {
    name: "verify by a plugin",
    shows: "\"tally\"",
    arguments: &[
        "verify",
        "--kubeconfig",
        "@given/verified-by-plugin",
        "--resource",
        "roles.rbac.authorization.k8s.io",
        "--shape",
        "RV=0, limit",
        "--format",
        "json",
    ],
};
/// The command that the client's copy of the kubeconfig calls.
pub(super) const CREDENTIAL: Run =
    Run { name: "credential", shows: "", arguments: &["credential", "--socket", "of the run exec", "--", "plugin"] };

/// All runs.
pub(super) fn all() -> impl Iterator<Item = &'static Run> {
    [&EXEC, &RUN, &RUN_THROUGH_PROXY, &RUN_BY_PROXY, &DEMO, &RUN_EXPORTING, &EXEC_EXPORTING, &CREDENTIAL, &VERIFY_BY_PLUG_IN]
        .into_iter()
        .chain(BY_PROXY)
        .chain(ATTACH)
        .chain(VERIFY)
        .chain(READ)
        .chain(ALONE)
}
