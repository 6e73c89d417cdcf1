//! The keys of the page. One table has the act, the places, the help and the hint of each key. Dispatch, help and the last line use
//! this table.

use super::key::Key;
use super::tab::Tab;

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    TurnTo(Tab),
    NextTab,
    PreviousTab,
    Travel(Travel),
    Open,
    Back,
    Help,
    Redraw,
    Quit,
    Suspend,
    BeginFilter,
    KeepFilter,
    DropFilter,
    DeleteCharacter,
    FilterOnRow,
    ShowRequests,
    SortByNext,
    Reverse,
    Arrange,
    Pause,
    ChangeZone,
    Copy,
    Note,
    SaveNote,
    About,
}

/// A movement through rows or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Travel {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
}

/// The part of the page that takes keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Table,
    /// An opened row.
    Detail,
    /// The help, or the basis of the numbers.
    Text,
    /// A filter that is being typed. Characters without an act are added to it.
    Prompt,
}

/// Keys that belong together.
#[derive(Debug)]
pub(super) struct Binding {
    /// Each key with its act, and the places where it has that act.
    pub keys: &'static [(Key, Act, &'static [Place])],
    /// The keys as the help writes them.
    pub name: &'static str,
    /// Their effect, in the help of the run's own page.
    pub meaning: &'static str,
    /// The hint in the last line, and the places where it is shown.
    hint: Option<(&'static str, &'static [Place])>,
}

/// The meanings of keys that differ on a page that is attached to a run of another process, by the names of their bindings.
const MEANINGS_WHEN_ATTACHED: &[(&str, &str)] = &[
    ("q, ctrl-c", "leave the page; watchtap and its traffic continue; ctrl-c works even if watchtap does not answer"),
    ("ctrl-z", "suspend this page until fg; watchtap and its traffic continue"),
];

const TABLE: &[Place] = &[Place::Table];
const SHEETS: &[Place] = &[Place::Detail, Place::Text];
const ROWS: &[Place] = &[Place::Table, Place::Detail];
const PAGE: &[Place] = &[Place::Table, Place::Detail, Place::Text];
const PROMPT: &[Place] = &[Place::Prompt];
const EVERYWHERE: &[Place] = &[Place::Table, Place::Detail, Place::Text, Place::Prompt];

/// All keys, in the order of the help and of the hints.
pub(super) const BINDINGS: &[Binding] = &[
    Binding {
        keys: &[
            (Key::Char('1'), Act::TurnTo(Tab::Reflectors), PAGE),
            (Key::Char('2'), Act::TurnTo(Tab::Requests), PAGE),
            (Key::Char('3'), Act::TurnTo(Tab::Storms), PAGE),
            (Key::Char('4'), Act::TurnTo(Tab::Clients), PAGE),
            (Key::Char('5'), Act::TurnTo(Tab::Findings), PAGE),
            (Key::Tab, Act::NextTab, PAGE),
            (Key::BackTab, Act::PreviousTab, PAGE),
        ],
        name: "1 … 5, tab",
        meaning: "select a tab; shift-tab: the previous one",
        hint: None,
    },
    Binding {
        keys: &[
            (Key::Char('j'), Act::Travel(Travel::Down), PAGE),
            (Key::Char('k'), Act::Travel(Travel::Up), PAGE),
            (Key::Up, Act::Travel(Travel::Up), PAGE),
            (Key::Down, Act::Travel(Travel::Down), PAGE),
            (Key::PageUp, Act::Travel(Travel::PageUp), PAGE),
            (Key::PageDown, Act::Travel(Travel::PageDown), PAGE),
            (Key::Char(' '), Act::Travel(Travel::PageDown), PAGE),
            (Key::Home, Act::Travel(Travel::First), PAGE),
            (Key::Char('g'), Act::Travel(Travel::First), PAGE),
            (Key::End, Act::Travel(Travel::Last), PAGE),
            (Key::Char('G'), Act::Travel(Travel::Last), PAGE),
        ],
        name: "j k, ↑ ↓",
        meaning: "down and up; pgdn or space, pgup: by a page; g or home, G or end: to the first or last row",
        hint: Some(("j k scroll", SHEETS)),
    },
    Binding {
        keys: &[(Key::Enter, Act::Open, TABLE)],
        name: "enter",
        meaning: "open the row: timeline, evidence, members, advice, or why a layer answered",
        hint: Some(("enter open", TABLE)),
    },
    Binding {
        keys: &[(Key::Escape, Act::Back, PAGE)],
        name: "esc",
        meaning: "back; in a table it clears the filter",
        hint: Some(("esc back", SHEETS)),
    },
    Binding {
        keys: &[(Key::Char('?'), Act::Help, PAGE), (Key::Redraw, Act::Redraw, EVERYWHERE)],
        name: "?, ctrl-l",
        meaning: "this help; redraw the screen",
        hint: Some(("? help", ROWS)),
    },
    Binding {
        keys: &[(Key::Char('q'), Act::Quit, PAGE), (Key::Interrupt, Act::Quit, EVERYWHERE)],
        name: "q, ctrl-c",
        meaning: "drain open connections, then quit with a report; exec: first interrupt the command, if it still runs",
        hint: Some(("q quit", PAGE)),
    },
    Binding {
        keys: &[(Key::Char('/'), Act::BeginFilter, TABLE)],
        name: "/",
        meaning: "filter the rows: see FILTERS below",
        hint: Some(("/ filter", TABLE)),
    },
    Binding {
        keys: &[
            (Key::Enter, Act::KeepFilter, PROMPT),
            (Key::Escape, Act::DropFilter, PROMPT),
            (Key::Backspace, Act::DeleteCharacter, PROMPT),
        ],
        name: "in a filter",
        meaning: "enter keeps it; esc restores the previous filter; backspace deletes a character",
        hint: None,
    },
    Binding {
        keys: &[(Key::Char('f'), Act::FilterOnRow, TABLE)],
        name: "f",
        meaning: "filter by the selected row's client and resource",
        hint: None,
    },
    Binding {
        keys: &[(Key::Char('c'), Act::ShowRequests, ROWS)],
        name: "c",
        meaning: "in tabs 1 and 4: open tab 2 with only the request shapes that the client has used recently; esc returns",
        hint: None,
    },
    Binding {
        keys: &[(Key::Char('s'), Act::SortByNext, TABLE), (Key::Char('S'), Act::Reverse, TABLE)],
        name: "s, S",
        meaning: "s: sort by the next column, marked ▾ (after the last one: in the default order, worst first); S: reverse the order",
        hint: Some(("s sort", TABLE)),
    },
    Binding {
        keys: &[(Key::Char('r'), Act::Arrange, TABLE)],
        name: "r",
        meaning: "show the new rows, and sort all; until then rows keep their places and new ones are counted, so that nothing moves",
        hint: None,
    },
    Binding {
        keys: &[(Key::Char('p'), Act::Pause, PAGE)],
        name: "p",
        meaning: "freeze the page; watchtap continues to observe",
        hint: Some(("p pause", ROWS)),
    },
    Binding {
        keys: &[(Key::Char('t'), Act::ChangeZone, PAGE)],
        name: "t",
        meaning: "show times in UTC, or in the zone of this terminal; line 1 names the zone",
        hint: None,
    },
    Binding {
        keys: &[(Key::Char('y'), Act::Copy, PAGE)],
        name: "y",
        meaning: "copy the selected list or watch as a kubectl get --raw",
        hint: Some(("y copy", ROWS)),
    },
    Binding {
        keys: &[(Key::Char('w'), Act::Note, PAGE), (Key::Char('W'), Act::SaveNote, PAGE)],
        name: "w, W",
        meaning: "copy a note in Markdown on the selected finding, storm or relist; write it to a new file in the current folder",
        hint: Some(("w note", ROWS)),
    },
    Binding {
        keys: &[(Key::Char('i'), Act::About, PAGE)],
        name: "i",
        meaning: "the API server's version and gates, confirmed verdicts, everything missed, reflectors that would relist on a restart, how to connect clients, messages",
        hint: Some(("i about", TABLE)),
    },
    Binding {
        keys: &[(Key::Stop, Act::Suspend, EVERYWHERE)],
        name: "ctrl-z",
        meaning: "suspend watchtap and its traffic until fg or bg; after bg the traffic continues without the page",
        hint: None,
    },
];

impl Binding {
    /// Their effect, in the help of a page that is attached to a run of another process, or of the run's own page.
    pub(super) fn meaning_on_page(&self, is_attached: bool) -> &'static str {
        let other = MEANINGS_WHEN_ATTACHED.iter().find(|(name, _)| is_attached && *name == self.name);
        other.map_or(self.meaning, |(_, meaning)| meaning)
    }
}

/// The act of `key` in `place`.
pub(super) fn act_of(key: Key, place: Place) -> Option<Act> {
    let mut keys = BINDINGS.iter().flat_map(|binding| binding.keys);
    keys.find(|(own, _, places)| *own == key && places.contains(&place)).map(|(_, act, _)| *act)
}

/// The hints of the last line in `place`, in the order of their importance.
pub(super) fn hints(place: Place) -> impl Iterator<Item = &'static str> {
    BINDINGS.iter().filter_map(move |binding| binding.hint.filter(|(_, places)| places.contains(&place)).map(|(hint, _)| hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_page_explains_the_keys_that_end_or_suspend_a_run() {
        for (name, meaning) in MEANINGS_WHEN_ATTACHED {
            let binding = BINDINGS.iter().find(|binding| binding.name == *name).unwrap();
            assert_eq!(binding.meaning_on_page(true), *meaning);
            assert_ne!(binding.meaning_on_page(false), *meaning);
        }
    }
}
