//! The table of keys: each key has help, and no key works without it.

use super::screen::{large, page, press};
use super::stories::trouble;
use crate::view::page::binding::{BINDINGS, Place, act_of};
use crate::view::page::{Key, Outcome};

/// The keys that lead to each place.
const PLACES: [(&str, Place); 5] =
    [("", Place::Table), ("<enter>", Place::Detail), ("?", Place::Text), ("i", Place::Text), ("/", Place::Prompt)];

#[test]
fn key_outside_the_table_does_nothing() {
    for (keys, place) in PLACES {
        let mut page = page(&trouble());
        press(&mut page, keys);
        assert_eq!(page.place(), place);
        let before = large(&page);
        for key in all_keys().filter(|key| act_of(*key, place).is_none()) {
            let is_typed = place == Place::Prompt && matches!(key, Key::Char(_));
            if !is_typed {
                assert_eq!(page.key(key), Outcome::Stay, "{key:?} in {place:?}");
                assert_eq!(large(&page), before, "{key:?} in {place:?}");
            }
        }
    }
}

#[test]
fn every_key_is_named_in_its_own_help() {
    for binding in BINDINGS {
        assert!(!binding.name.is_empty() && binding.meaning.split(' ').count() > 1, "{binding:?}");
        let words: Vec<&str> =
            [binding.name, binding.meaning].into_iter().flat_map(|text| text.split([' ', ',', ';', ':'])).collect();
        for (key, _, _) in binding.keys {
            assert!(words.contains(&name(*key).as_str()), "{key:?} is not in {words:?}");
        }
    }
}

#[test]
fn no_key_has_two_acts_in_one_place() {
    for place in [Place::Table, Place::Detail, Place::Text, Place::Prompt] {
        let keys = BINDINGS.iter().flat_map(|binding| binding.keys).filter(|(_, _, places)| places.contains(&place));
        let mut keys: Vec<String> = keys.map(|(key, _, _)| format!("{key:?}")).collect();
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all, "{place:?}");
    }
}

#[test]
fn help_and_readme_have_every_key() {
    let mut page = page(&trouble());
    press(&mut page, "?");
    let help = large(&page);
    let readme = include_str!("../../../../../README.md");
    for binding in BINDINGS {
        assert!(help.contains(binding.name) && help.contains(binding.meaning), "{binding:?}\n{help}");
        for key in binding.keys.iter().map(|(key, _, _)| name(*key)).filter(|key| key != "…") {
            assert!(readme.contains(&format!("`{key}`")), "README.md has no `{key}`");
        }
    }
}

/// The keys of a keyboard that the page distinguishes.
fn all_keys() -> impl Iterator<Item = Key> {
    let named = [
        Key::Enter,
        Key::Escape,
        Key::Backspace,
        Key::Tab,
        Key::BackTab,
        Key::Up,
        Key::Down,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Redraw,
        Key::Stop,
        Key::Interrupt,
    ];
    (' '..='~').map(Key::Char).chain(named)
}

/// The name of a key in the help. The digits of the tables are a range.
fn name(key: Key) -> String {
    match key {
        Key::Char('2'..='4') => "…".to_owned(),
        Key::Char(' ') => "space".to_owned(),
        Key::Char(character) => character.to_string(),
        Key::Enter => "enter".to_owned(),
        Key::Escape => "esc".to_owned(),
        Key::Backspace => "backspace".to_owned(),
        Key::Tab => "tab".to_owned(),
        Key::BackTab => "shift-tab".to_owned(),
        Key::Up => "↑".to_owned(),
        Key::Down => "↓".to_owned(),
        Key::PageUp => "pgup".to_owned(),
        Key::PageDown => "pgdn".to_owned(),
        Key::Home => "home".to_owned(),
        Key::End => "end".to_owned(),
        Key::Redraw => "ctrl-l".to_owned(),
        Key::Stop => "ctrl-z".to_owned(),
        Key::Interrupt => "ctrl-c".to_owned(),
    }
}
