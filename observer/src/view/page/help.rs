//! The meaning of the keys and of the words.

use super::binding::BINDINGS;
use super::filter_key::{FilterKey, NumberKey};
use super::line::Line;
use super::sheet::Sheet;
use crate::view::colour::Tone;

const MOUSE: &[(&str, &str)] = &[
    ("wheel", "scrolls the table or the text"),
    ("click", "selects a row, opens a tab, or sorts by a heading; another click on the heading reverses the order"),
    ("shift", "with it, the mouse selects text for the terminal (in some terminals: option or fn)"),
];

const FILTERS: &[(&str, &str)] = &[
    ("pods", "a plain word, which matches anywhere in a row; all terms must match"),
    ("client:NAME", "a fact that contains the word: resource:pods served:etcd cause:expired state:stuck"),
    (
        "relists>=3",
        "a numeric column, with >, >=, <, <= or =: objects>1000 bytes>1MB in-state<10s; a row without the number does not match",
    ),
    ("a OR b c", "a, or both b and c"),
    ("NOT a, -a", "rows that do not match a: -client:kubectl"),
    ("\"system:node\"", "quotes, around a word with a colon, a space or an operator"),
];

const WORDS: &[(&str, &str)] = &[
    (
        "from etcd",
        "1 of 9 lists: etcd answered one of nine; then the bytes that the lists from etcd returned, and the gets and watches that etcd answered; red if the load on etcd is heavy",
    ),
    (
        "~ and !",
        "~ predicted from the request and the server's version; ! contradicted by the answer; no mark: confirmed by the answer; a row has the mark of its least certain request",
    ),
    (
        "relist",
        "a list of a reflector that has listed and watched before, or a watch that sends it all objects again; the lists of a client that never watches are not relists",
    ),
    ("lists", "each page of a list counts as one; findings count a list with all its pages once"),
    ("unchanged", "objects that were sent again although the client had this version"),
    (
        "behind",
        "how many revisions a reflector lags behind the newest that was observed of its resource (?: unknown, because no revision was observed, or etcd went back)",
    ),
    ("behind etcd", "the same, compared with the newest revision of any resource"),
    ("storm", "many reflectors that relist within seconds"),
    (
        "on a restart",
        "reflectors that would relist if the API server restarted now, and what that would cost; they relist because their resource \
        version is too old for its new cache, or because they start a watch without a resource version; perhaps N more relist if there \
        were writes that watchtap did not see; client-go before 1.16 also relists whenever connections are refused, which the counts ignore",
    ),
    ("dropped", "rows that the tables no longer hold, because a limit was reached; traffic is never dropped"),
    ("not observed", "traffic that was forwarded and not observed; if there is any, all numbers are lower bounds"),
];

/// The help, in lines of at most `cells` cells. `is_attached` is true for a page on the terminal of another process.
pub(super) fn lines(cells: usize, is_attached: bool) -> Vec<Line> {
    let mut sheet = Sheet::new(cells);
    sheet.title("KEYS");
    for binding in BINDINGS {
        sheet.fact(binding.name, Tone::Plain, binding.meaning_on_page(is_attached));
    }
    sheet.section("MOUSE");
    for (act, meaning) in MOUSE {
        sheet.fact(act, Tone::Plain, meaning);
    }
    sheet.section("FILTERS");
    for (term, meaning) in FILTERS {
        sheet.fact(term, Tone::Plain, meaning);
    }
    let names = |names: &[&str]| names.join(" ");
    sheet.fact("facts", Tone::Plain, &names(&FilterKey::ALL.map(FilterKey::as_str)));
    sheet.fact("numbers", Tone::Plain, &names(&NumberKey::ALL.map(NumberKey::as_str)));
    sheet.section("WORDS");
    for (word, meaning) in WORDS {
        sheet.fact(word, Tone::Plain, meaning);
    }
    sheet.into_lines()
}
