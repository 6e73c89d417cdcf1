//! Describes the language of scripts, for `watchtap demo --list`.

/// The acts, each with its effect.
pub(super) const ACTS: &[(&str, &str)] = &[
    ("print TEXT", "announces the next event, and where to look"),
    ("start KIND NAME OPTION…", "starts a client; a running one of that name ends first, as a process that restarts"),
    ("stop NAME", "ends a client"),
    (
        "expire RESOURCE",
        "restarts the watch cache of a resource after a write of the server's own: its watches end, and resuming them gets 410",
    ),
    ("end-watches", "ends all watches cleanly; they can be resumed"),
    ("restart for=TIME", "the API server drains, refuses connections for that time, and returns with empty event rings"),
    ("compact", "the store compacts its history: continuing a list from an old page gets 410"),
    ("backup", "the store is saved"),
    ("restore for=TIME", "like restart, but the store returns as it was saved: its revision goes back"),
    ("wait", "does nothing; a round lasts until its last line"),
];

/// The kinds of clients, each with its behaviour.
pub(super) const KINDS: &[(&str, &str)] = &[
    (
        "reflectors NAME client-go=RELEASE watches=RESOURCE,…",
        "a process with one reflector per resource, like client-go 1.15, 1.18.2, 1.34 or 1.36",
    ),
    ("watcher NAME watches=RESOURCE", "a watcher of kube-rs"),
    ("controller NAME watches=RESOURCE", "a controller of kube-rs"),
    ("rollouts NAME", "marks each deployment as rolled out, so that kubectl rollout ends"),
    ("poller NAME lists=RESOURCE every=TIME [resourceVersion=0]", "lists at each interval, and never watches"),
    ("pager NAME lists=RESOURCE every=TIME page=N", "lists in pages at each interval"),
    ("changer NAME every=TIME", "changes a pod and a config map each time"),
    ("writer NAME every=TIME kib=N", "writes a config map of N KiB each time"),
    ("slow-reader NAME watches=RESOURCE", "opens a watch and never reads from it"),
];

/// All elements of a script, one sentence each.
pub fn reference() -> String {
    let mut text = String::from(
        "A line is a time and an act. Empty lines, and those that begin with #, are ignored.\n\
         After a line \"repeat\", times start at zero, and the lines that follow run in a loop.\n",
    );
    for (title, rows) in [("ACTS", ACTS), ("KINDS OF CLIENTS, each with a connection of its own", KINDS)] {
        text.extend(["\n", title, "\n"]);
        for (usage, sentence) in rows {
            text.extend(["  ", usage, "\n      ", sentence, "\n"]);
        }
    }
    text
}
