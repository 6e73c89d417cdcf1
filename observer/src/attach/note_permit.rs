//! Decides whether the run may have this process copy a text or write a note: only as the effect of a key that its user pressed.

use crate::printable::Printable;
use crate::view::{Key, NoteFile};

/// The beginning of all names of notes.
const STEM: &str = "watchtap-note-";
/// Maximum length of a name without its extension.
const LONGEST_STEM: usize = 64;

/// The single use that the last key permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NotePermit {
    #[default]
    Nothing,
    Copy,
    Write,
}

impl NotePermit {
    /// The permit of a key. In a filter that is being typed, the run has no reason to use it.
    pub(super) const fn of(key: Key) -> Self {
        match key {
            Key::Char('y' | 'w') => Self::Copy,
            Key::Char('W') => Self::Write,
            Key::Char(_)
            | Key::Enter
            | Key::Escape
            | Key::Backspace
            | Key::Tab
            | Key::BackTab
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End
            | Key::Redraw
            | Key::Stop
            | Key::Interrupt => Self::Nothing,
        }
    }

    /// The text to copy, through the gate; `None` if the user did not ask for one.
    pub(super) fn copy(&mut self, text: &str) -> Option<String> {
        let permit = std::mem::take(self);
        (permit == Self::Copy).then(|| Printable::lines(text).into_string())
    }

    /// The note to write, through the gate; `None` if the user did not ask for one, or its name could lead elsewhere.
    pub(super) fn write(&mut self, stem: String, text: &str) -> Option<NoteFile> {
        let permit = std::mem::take(self);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_name = stem.starts_with(STEM) && stem.len() <= LONGEST_STEM && stem.bytes().all(is_plain);
        (permit == Self::Write && is_name).then(|| NoteFile { stem, text: Printable::lines(text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_copies_and_writes_only_after_the_key_for_it() {
        let mut permit = NotePermit::default();
        assert_eq!(permit.copy("rm -rf /"), None);
        assert_eq!(permit.write("watchtap-note-1".to_owned(), ""), None);
        permit = NotePermit::of(Key::Char('y'));
        assert_eq!(permit.copy("kubectl\u{1b}]0;x\n").as_deref(), Some("kubectl\u{FFFD}]0;x\n"));
        assert_eq!(permit.copy("once"), None);
        permit = NotePermit::of(Key::Char('j'));
        assert_eq!(permit.copy("x"), None);
    }

    #[test]
    fn note_has_a_plain_name_in_the_current_folder() {
        for (stem, is_accepted) in [
            ("watchtap-note-20260131T120001Z", true),
            ("watchtap-note-../../x", false),
            ("/etc/cron.d/watchtap-note-", false),
            (".bashrc", false),
            ("watchtap-note-\n", false),
        ] {
            let mut permit = NotePermit::of(Key::Char('W'));
            assert_eq!(permit.write(stem.to_owned(), "x").is_some(), is_accepted, "{stem}");
        }
    }
}
