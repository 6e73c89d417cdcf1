//! Pictures as text.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, CellWidth as _};

use super::script::play;
use crate::view::colour::Colour;
use crate::view::page::{Key, Outcome, Page};

/// From this many empty lines in a row, their number is shown.
const MANY: usize = 3;

/// A page without colours after `script`.
pub(super) fn page(script: &str) -> Page {
    let guidance = ["in another terminal:", "export KUBECONFIG=watchtap.kubeconfig"].map(str::to_owned).to_vec();
    Page::new(play(script), "kind-dev", guidance, Colour::Off)
}

/// Presses keys: letters, and named keys in angle brackets.
#[track_caller]
pub(super) fn press(page: &mut Page, keys: &str) -> Outcome {
    let mut outcome = Outcome::Stay;
    let mut rest = keys;
    while let Some(first) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let (key, after) = match named {
            Some((name, after)) => (by_name(name), after),
            None => (Key::Char(first), &rest[first.len_utf8()..]),
        };
        outcome = page.key(key);
        rest = after;
    }
    outcome
}

fn by_name(name: &str) -> Key {
    match name {
        "enter" => Key::Enter,
        "esc" => Key::Escape,
        "backspace" => Key::Backspace,
        "tab" => Key::Tab,
        "backtab" => Key::BackTab,
        "up" => Key::Up,
        "down" => Key::Down,
        "pgup" => Key::PageUp,
        "pgdn" => Key::PageDown,
        "home" => Key::Home,
        "end" => Key::End,
        "ctrl-c" => Key::Interrupt,
        other => panic!("no such key: {other}"),
    }
}

/// The screen of a terminal of 80×24.
pub(super) fn small(page: &Page) -> String {
    text(&drawn(page, 80, 24))
}

/// The screen of a terminal of 200×50.
pub(super) fn large(page: &Page) -> String {
    text(&drawn(page, 200, 50))
}

/// The cells of a terminal.
pub(in crate::view) fn drawn(page: &Page, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| page.draw(frame.buffer_mut())).unwrap();
    terminal.backend().buffer().clone()
}

/// The lines of a picture, without the spaces at their ends.
pub(in crate::view) fn lines_of(buffer: &Buffer) -> Vec<String> {
    buffer.content.chunks(usize::from(buffer.area.width)).map(line).collect()
}

/// The picture as text, with a number for many empty lines.
pub(super) fn text(buffer: &Buffer) -> String {
    let lines = lines_of(buffer);
    let mut shown = String::new();
    for group in lines.chunk_by(|one, other| one.is_empty() && other.is_empty()) {
        if group.len() >= MANY {
            let told = format!("({} empty lines)\n", group.len());
            shown.push_str(&told);
        } else {
            shown.extend(group.iter().flat_map(|line| [line.as_str(), "\n"]));
        }
    }
    shown
}

/// A wide character takes two cells; the second one is not drawn.
fn line(cells: &[ratatui::buffer::Cell]) -> String {
    let mut text = String::new();
    let mut hidden = 0;
    for cell in cells {
        if hidden > 0 {
            hidden -= 1;
            continue;
        }
        text.push_str(cell.symbol());
        hidden = cell.cell_width().saturating_sub(1);
    }
    text.trim_end().to_owned()
}
