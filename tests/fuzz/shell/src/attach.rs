//! Invariants of a run and of an attached terminal, for any bytes of the other side. A run sends lines of JSON, the first of which is
//! its greeting; a terminal accepts its page. A terminal shows only text that cannot control it. It copies and writes only what its
//! user asked for with a key, and only to a file in the current folder.
//!
//! The first byte of the input is the key that was pressed, or 0 for bytes to a run.

use serde_json::Value;
use watchtap::attach::any_bytes::{MOST_TO_TERMINAL, Reaction, answers_of_run, reaction_of_terminal};

/// Passes the bytes to one side.
pub fn check(input: &[u8]) {
    match input {
        [0, bytes @ ..] => check_run(bytes),
        [key, bytes @ ..] => check_terminal(bytes, char::from(*key)),
        [] => {}
    }
}

fn check_run(bytes: &[u8]) {
    let answers = answers_of_run(bytes).expect("the connection can be read");
    let answers = String::from_utf8(answers).expect("text");
    assert!(answers.ends_with('\n'), "a line is not complete");
    let messages: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(messages[0]["watchtap_attach"].is_u64(), "no greeting: {}", messages[0]);
    let (_, page) = answers.split_once('\n').expect("a line");
    if messages.get(1).is_some_and(|first| first.get("picture").is_some()) && page.len() <= MOST_TO_TERMINAL {
        let Reaction { failure, .. } = reaction_of_terminal(page.as_bytes(), 'j').expect("a terminal");
        let is_end = failure.as_ref().is_none_or(|failure| failure.starts_with("the connection ended"));
        assert!(is_end, "a terminal does not accept the page: {failure:?}");
    }
}

fn check_terminal(bytes: &[u8], key: char) {
    let Reaction { cells, copied, notes, failure: _ } = reaction_of_terminal(bytes, key).expect("a terminal");
    for cell in cells {
        assert!(!cell.is_empty() && cell.chars().count() <= 8 && cell.chars().all(is_harmless), "{cell:?}");
    }
    assert!(copied.len() + notes.len() <= 1, "one key permits one of them");
    assert!(copied.is_empty() || matches!(key, 'y' | 'w'), "no key permits copying");
    assert!(notes.is_empty() || key == 'W', "no key permits writing");
    for text in copied.iter().chain(notes.iter().map(|(_, text)| text)) {
        assert!(text.chars().all(|character| character == '\n' || is_harmless(character)), "{text:?}");
    }
    for (name, _) in notes {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        assert!(name.starts_with("watchtap-note-") && name.bytes().all(is_plain), "{name:?}");
    }
}

/// Whether a terminal shows the character in its place.
fn is_harmless(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
