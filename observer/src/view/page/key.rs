//! The keys that a user presses, and the resulting requests to the terminal.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde::{Deserialize, Serialize};

use crate::printable::Printable;

/// A key with a meaning on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// A character, without Ctrl.
    Char(char),
    /// Opens the selected row, or keeps the typed filter.
    Enter,
    /// Goes one step back, or drops the typed filter.
    Escape,
    /// Deletes a typed character.
    Backspace,
    /// Turns to the next table.
    Tab,
    /// Tab with Shift: turns to the previous table.
    BackTab,
    /// Moves one line up.
    Up,
    /// Moves one line down.
    Down,
    /// Moves one screen up.
    PageUp,
    /// Moves one screen down.
    PageDown,
    /// Moves to the first line.
    Home,
    /// Moves to the last line.
    End,
    /// Ctrl-L.
    Redraw,
    /// Ctrl-Z, which in raw mode is an ordinary key.
    Stop,
    /// Ctrl-C, which in raw mode is an ordinary key.
    Interrupt,
}

/// The action after a key, in addition to drawing the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No further action.
    Stay,
    /// Leave the page.
    Quit,
    /// Draw the complete screen: something else has written to it.
    Redraw,
    /// Stop the process until its shell continues it.
    Stop,
    /// Copy this text to the user's clipboard.
    Copy(String),
    /// Write this note to a new file, and pass the result to `Page::note_written`.
    Write(NoteFile),
}

/// A note, and the beginning of its file's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteFile {
    /// The name without the extension. If a file with this name exists, a number is appended.
    pub stem: String,
    /// The content, in Markdown.
    pub text: Printable,
}

impl Key {
    /// The key of a terminal event; `None` for keys without a meaning here, and when a key is released.
    #[expect(clippy::wildcard_enum_match_arm, reason = "a keyboard has many keys that mean nothing here")]
    pub fn of(event: &KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let with_control = event.modifiers.contains(KeyModifiers::CONTROL);
        let with_modifier = event.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        Some(match event.code {
            KeyCode::Char('c') if with_control => Self::Interrupt,
            KeyCode::Char('l') if with_control => Self::Redraw,
            KeyCode::Char('z') if with_control => Self::Stop,
            KeyCode::Char(character) if !with_modifier => Self::Char(character),
            KeyCode::Enter => Self::Enter,
            KeyCode::Esc => Self::Escape,
            KeyCode::Backspace => Self::Backspace,
            KeyCode::Tab => Self::Tab,
            KeyCode::BackTab => Self::BackTab,
            KeyCode::Up => Self::Up,
            KeyCode::Down => Self::Down,
            KeyCode::PageUp => Self::PageUp,
            KeyCode::PageDown => Self::PageDown,
            KeyCode::Home => Self::Home,
            KeyCode::End => Self::End,
            _ => return None,
        })
    }
}
