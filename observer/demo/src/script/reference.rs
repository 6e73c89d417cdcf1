//! Describes the language of scripts, for `watchtap demo --list`.

/// The acts, each with its effect.
pub(super) const ACTS: &[(&str, &str)] = &[
    ("print TEXT", "prints a message"),
    ("start KIND NAME OPTION…", "starts a client; a running client of that name ends first, like a process that restarts"),
    ("stop NAME", "ends a client"),
    (
        "expire RESOURCE|all",
        "writes to etcd, then resets the watch cache of a resource: its watches end, and resuming them gets 410",
    ),
    ("end-watches [every=TIME for=TIME]", "ends all watches cleanly; they can be resumed"),
    ("deaf RESOURCE|all for=TIME", "the open watches of a resource deliver nothing for that time; then they end"),
    ("answer 429|500|503|504 for=TIME", "every request for resources gets this answer for that time"),
    ("no-bookmarks for=TIME", "watches get no bookmarks for that time"),
    ("no-list-end for=TIME", "streaming lists do not end for that time: the bookmark after their objects is dropped"),
    ("slow BYTES for=TIME", "for that time, each response for resources is sent at BYTES per second, such as 500B, 64kB or 2MB"),
    ("restart for=TIME", "the API server drains, refuses connections for that time, and starts again with empty watch caches"),
    ("compact", "etcd compacts its history: requesting the next page of an old list gets 410"),
    ("backup", "takes a backup of etcd"),
    ("rewind", "etcd is restored from the last backup at once: lists return an older state than clients had"),
    ("restore for=TIME", "like restart, but etcd is restored from the last backup: its revision goes back"),
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
        "A line is a time and an action. Empty lines, and those that begin with #, are ignored.\n\
         After a line \"repeat\", times start at zero, and the lines that follow run in a loop.\n",
    );
    for (title, rows) in [("ACTIONS", ACTS), ("KINDS OF CLIENTS, each with its own connection", KINDS)] {
        text.extend(["\n", title, "\n"]);
        for (usage, sentence) in rows {
            text.extend(["  ", usage, "\n      ", sentence, "\n"]);
        }
    }
    text
}
