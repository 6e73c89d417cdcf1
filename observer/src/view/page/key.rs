//! What the person presses, and what that asks of the terminal.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key that the page may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Tab.
    Tab,
    /// Tab with Shift.
    BackTab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// Ctrl-L.
    Redraw,
    /// Ctrl-Z, which in raw mode is a key like any other.
    Stop,
    /// Ctrl-C, likewise.
    Interrupt,
}

/// What is to be done after a key, beside drawing the page again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing.
    Stay,
    /// The page is to be left.
    Quit,
    /// All of the screen is to be drawn anew: something else has written to it.
    Redraw,
    /// The process is to be stopped until its shell continues it.
    Stop,
    /// A text is to be put where the person can paste it from.
    Copy(String),
}

impl Key {
    /// The key of an event of the terminal; nothing for keys that mean nothing here, and when one is let go.
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
