//! The language of scripts, for `watchtap demo --list`.

/// The acts, each with its effect.
pub(super) const ACTS: &[(&str, &str)] = &[
    ("say TEXT", "tells the reader what comes, and where to look"),
    ("start KIND NAME OPTION…", "a client comes; one of this name that is there is ended first, as a process that is started anew"),
    ("stop NAME", "a client ends"),
    (
        "expire RESOURCE",
        "the watch cache of a resource begins anew behind a write of the server's own: its watches end, and to go on is 410",
    ),
    ("end-watches", "all watches end, cleanly; they can be resumed"),
    ("restart for=TIME", "the API server drains, refuses connections for so long, and comes back with empty event rings"),
    ("compact", "the store forgets its history: a list that is continued from an old page gets 410"),
    ("backup", "the store is saved"),
    ("restore for=TIME", "as restart, but the store comes back as it was saved: its revision goes back"),
    ("wait", "nothing: a round ends no sooner than its last line"),
];

/// The kinds of clients, each with its behaviour.
pub(super) const KINDS: &[(&str, &str)] = &[
    (
        "reflectors NAME client-go=RELEASE watches=RESOURCE,…",
        "a process with a reflector a resource, as client-go 1.15, 1.18.2, 1.34 or 1.36 has it",
    ),
    ("watcher NAME watches=RESOURCE", "a watcher of kube-rs"),
    ("controller NAME watches=RESOURCE", "a controller of kube-rs"),
    ("rollouts NAME", "says of each deployment that it is rolled out, so that kubectl rollout ends"),
    ("poller NAME lists=RESOURCE every=TIME [resourceVersion=0]", "lists again and again, and never watches"),
    ("pager NAME lists=RESOURCE every=TIME page=N", "lists in pages, again and again"),
    ("changer NAME every=TIME", "changes a pod and a config map each time"),
    ("writer NAME every=TIME kib=N", "writes a config map of so many KiB each time"),
    ("slow-reader NAME watches=RESOURCE", "opens a watch and never reads from it"),
];

/// All elements of a script, one sentence each.
pub fn reference() -> String {
    let mut text = String::from(
        "A line is a time and an act: when it is due, and what happens. Empty lines, and those that begin with #, say nothing.\n\
         Behind a line \"repeat\" times count anew, and what stands there comes over and over.\n",
    );
    for (title, rows) in [("ACTS", ACTS), ("KINDS OF CLIENTS, each with a connection of its own", KINDS)] {
        text.extend(["\n", title, "\n"]);
        for (usage, sentence) in rows {
            text.extend(["  ", usage, "\n      ", sentence, "\n"]);
        }
    }
    text
}
