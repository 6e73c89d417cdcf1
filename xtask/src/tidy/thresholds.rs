//! Rule: `docs/findings.md` states the same thresholds of findings as the core. If a number changes, its sentence must change too.

use super::tree::Tree;
use super::violation::{Violation, assert_none};

const NUMBERS: &str = "observer/core/src/thresholds.rs";
const DOCS: &str = "docs/findings.md";

/// For each threshold, the end of the constant's definition, and the words in the document that state it.
const STATED: &[(&str, &str)] = &[
    ("LOOP_RELISTS: usize = 5;", "relists five times within ten minutes"),
    ("LOOP_WITHIN: Duration = Duration::from_mins(10);", "relists five times within ten minutes"),
    ("SHORT_WATCHES: u64 = 3;", "Three or more watches in a row end within a second"),
    ("VERY_SHORT_WATCH: Duration = Duration::from_secs(1);", "Three or more watches in a row end within a second"),
    ("UNRESUMED_WATCHES: u64 = 3;", "after a watch that ended normally, three times or more"),
    ("FUTILE_WATCHES: u64 = 3;", "from the same revision three times or more in a row"),
    ("DEAF_AFTER: Duration = Duration::from_mins(3);", "delivered nothing for three minutes or more"),
    ("PROOF_OF_DEAFNESS: Duration = Duration::from_mins(1);", "at least a minute ago"),
    ("BOOKMARK_DUE: Duration = Duration::from_secs(90);", "90 seconds or more after the silence began"),
    ("AHEAD_AFTER: Duration = Duration::from_secs(10);", "nothing for ten seconds or more since it opened"),
    ("UNSYNCED_ATTEMPTS: u64 = 2;", "if two attempts were cut off before the end"),
    ("INITIAL_EVENTS_WITHIN: Duration = Duration::from_secs(30);", "open for 30 seconds or more"),
    ("QUIET_WITHOUT_END: Duration = Duration::from_secs(10);", "delivered nothing for ten seconds"),
    ("LONG_STALL: Duration = Duration::from_secs(5);", "for five seconds or more in all"),
    ("POLLS: u64 = 4;", "four times or more at even intervals for more than a minute"),
    ("MOST_WAITS: Duration = Duration::from_mins(1);", "four times or more at even intervals for more than a minute"),
    ("LONGEST_WAIT: Duration = Duration::from_mins(5);", "A series that ends by itself within five minutes was a wait"),
    ("HOT_LISTS: u64 = 10;", "ten times or more, less than a second apart"),
    ("HOT: Duration = Duration::from_secs(1);", "ten times or more, less than a second apart"),
    ("TOGETHER: Duration = Duration::from_secs(3);", "for three seconds or more"),
    ("HEAVY_OBJECTS: u64 = 500;", "five hundred items or more"),
    ("FILTERED_TO: u64 = 10;", "at most one in ten of them"),
    ("BUSY_GETS: u64 = 10;", "ten times a second or more, for 30 seconds or more"),
    ("BUSY_OVER: Duration = Duration::from_secs(30);", "ten times a second or more, for 30 seconds or more"),
    ("LIMITS_IGNORED: u64 = 10;", "at least ten times as many objects"),
    ("WAIT_FOR_CACHE: Duration = Duration::from_secs(3);", "waited three seconds or more for the first byte"),
    ("SLOW_BYTES: u64 = 20_000_000;", "have 20 MB or more each"),
    ("STORM_REFLECTORS: usize = 10;", "Ten or more reflectors relisted within ten seconds"),
    ("STORM_WITHIN: Duration = Duration::from_secs(10);", "Ten or more reflectors relisted within ten seconds"),
    ("ROLLOUT_CLIENTS: usize = 10;", "Ten or more clients of one program started within ten minutes"),
    ("ROLLOUT_WITHIN: Duration = Duration::from_mins(10);", "Ten or more clients of one program started within ten minutes"),
    ("SLOW_SYNC: Duration = Duration::from_secs(30);", "needed 30 seconds or more"),
    ("SYNC_SHARE: u32 = 2;", "half of that time or more"),
    ("MANY_WATCHES: usize = 50;", "50 or more open watches"),
    ("HEAVY_BYTES: u64 = 1_000_000;", "a megabyte or more"),
    ("SHORTEST_GAP: Duration = Duration::from_millis(5);", "between five milliseconds and half a second"),
    ("LONGEST_GAP: Duration = Duration::from_millis(500);", "between five milliseconds and half a second"),
];

/// Thresholds of `numbers` that differ from the table, and sentences that `docs` lacks.
fn unstated(numbers: &str, docs: &str) -> Vec<String> {
    let docs = docs.split_whitespace().collect::<Vec<_>>().join(" ");
    let differ = STATED.iter().filter(|(number, _)| !numbers.contains(&format!("const {number}")));
    let lack = STATED.iter().filter(|(_, words)| !docs.contains(words));
    let differ = differ.map(|(number, words)| format!("`{number}` is not its value, which \"{words}\" states"));
    differ.chain(lack.map(|(number, words)| format!("\"{words}\" is missing, which states `{number}`"))).collect()
}

#[test]
fn documents_state_the_thresholds_of_findings() {
    let tree = Tree::read();
    let docs = tree.file(DOCS);
    let unstated = unstated(&tree.file(NUMBERS).text, &docs.text);
    let violations: Vec<Violation> = unstated.into_iter().map(|detail| Violation::of(docs, detail)).collect();
    assert_none(&violations, "change the sentence of docs/findings.md, the constant and STATED of this rule together");
}

#[test]
fn changed_numbers_and_lost_sentences_are_caught() {
    let numbers: String = STATED.iter().map(|(number, _)| ["pub(crate) const ", number, "\n"].concat()).collect();
    let docs: String = STATED.iter().map(|(_, words)| words.replacen(' ', "\n", 1) + ". ").collect();
    assert_eq!(unstated(&numbers, &docs), <[String; 0]>::default());
    assert_eq!(unstated(&numbers.replace("u64 = 500", "u64 = 501"), &docs).len(), 1);
    assert_eq!(unstated(&numbers, &docs.replace("one in ten", "one in five")).len(), 1);
}
