//! The meaning of the keys and of the words.

use super::filter::FilterKey;
use super::line::Line;
use super::sheet::Sheet;
use crate::view::colour::Tone;

const KEYS: &[(&str, &str)] = &[
    ("1 … 5, tab", "the tables; shift-tab goes back"),
    ("j k, ↑ ↓", "down and up; pgdn, space and pgup by a page; g and G, home and end to the first and the last"),
    ("enter", "open: time line and evidence, members, advice, the verdict's reasons"),
    ("esc", "back; in a table it clears the filter"),
    ("/", "filter: client:NAME resource:pods served:etcd cause:expired state:stuck, and plain words; all must fit"),
    ("f", "filter on the selected row's client and resource"),
    ("s, S", "sort by the next column (▾ marks it; behind the last, the worst first); the other way round"),
    ("r", "put what came since in its place: until then new rows stand below, so that nothing moves while you read"),
    ("p", "freeze the page; watchtap continues to collect"),
    ("y", "copy the selected list or watch as a kubectl get --raw"),
    ("i", "basis of the verdicts, everything missed, and the reflectors that relist after a restart"),
    ("?, ctrl-l", "this help; draw the screen anew"),
    ("q, ctrl-c", "the end, with a report; open connections may end first"),
    ("ctrl-z", "stop, and the traffic with it, until fg or bg; after bg the traffic continues without the page"),
];

const WORDS: &[(&str, &str)] = &[
    ("etcd 1 of 9", "lists that etcd answered, and what they delivered: red if that is much"),
    (
        "~ and !",
        "a verdict predicted from the request and the server's version; one that the answer contradicted. No mark: confirmed",
    ),
    ("relist", "a list of a client that had one: all objects travel again"),
    ("spurious", "objects that came again in the very version that the client had"),
    ("behind", "revisions from the client's newest to the newest seen of its resource"),
    ("storm", "many reflectors that list again within seconds"),
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
    sheet.say(Tone::Plain, &names.join("  "));
    sheet.say(Tone::Plain, "A word with a colon of its own is written in quotes: \"system:node\".");
    sheet.section("WORDS");
    for (word, meaning) in WORDS {
        sheet.fact(word, Tone::Plain, meaning);
    }
    sheet.into_lines()
}
