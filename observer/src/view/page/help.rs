//! The meaning of the keys and of the words.

use super::filter::FilterKey;
use super::line::Line;
use super::sheet::Sheet;
use crate::view::colour::Tone;

const KEYS: &[(&str, &str)] = &[
    ("1 … 5, tab", "select a table; shift-tab: the previous one"),
    ("j k, ↑ ↓", "down and up; pgdn, space and pgup by a page; g and G, home and end to the first and the last"),
    ("enter", "open: timeline and evidence, members, advice, the verdict's reasons"),
    ("esc", "back; in a table it clears the filter"),
    ("/", "filter: client:NAME resource:pods served:etcd cause:expired state:stuck, and plain words; all must fit"),
    ("f", "filter by the selected row's client and resource"),
    ("s, S", "sort by the next column (▾ marks it; after the last, the worst first); reverse the order"),
    ("r", "sort in the new rows; until then they stay below, so that nothing moves while you read"),
    ("p", "freeze the page; watchtap continues to collect"),
    ("y", "copy the selected list or watch as a kubectl get --raw"),
    ("i", "basis of the verdicts, everything missed, and the reflectors that relist after a restart"),
    ("?, ctrl-l", "this help; redraw the screen"),
    ("q, ctrl-c", "drain open connections, then quit with a report"),
    ("ctrl-z", "suspend watchtap and its traffic until fg or bg; after bg the traffic continues without the page"),
];

const WORDS: &[(&str, &str)] = &[
    ("etcd 1 of 9", "lists that etcd answered, and their objects and bytes: red if those are many"),
    (
        "~ and !",
        "a verdict predicted from the request and the server's version; one that the answer contradicted. No mark: confirmed",
    ),
    ("relist", "a list of a client that already had one: all objects are sent again"),
    ("spurious", "objects that were sent again unchanged"),
    ("behind", "revisions between the client's newest and the newest observed of its resource"),
    ("storm", "many reflectors that relist within seconds"),
    ("if restarted", "reflectors that relist if the API server restarts now, and their cost: those with a stale resource version"),
    ("not observed", "traffic that was forwarded and not observed; all numbers are lower bounds then"),
];

/// The help, in lines of `cells`.
pub(super) fn lines(cells: usize) -> Vec<Line> {
    let mut sheet = Sheet::new(cells);
    sheet.title("KEYS");
    for (key, meaning) in KEYS {
        sheet.fact(key, Tone::Plain, meaning);
    }
    sheet.section("FILTERS");
    let names: Vec<String> = FilterKey::ALL.into_iter().map(|key| format!("{}:", key.as_str())).collect();
    sheet.print(Tone::Plain, &names.join("  "));
    sheet.print(Tone::Plain, "A word with a colon of its own is written in quotes: \"system:node\".");
    sheet.section("WORDS");
    for (word, meaning) in WORDS {
        sheet.fact(word, Tone::Plain, meaning);
    }
    sheet.into_lines()
}
