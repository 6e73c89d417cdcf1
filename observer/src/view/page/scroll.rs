//! The part of a long text or table that is in sight.

use std::cell::Cell;

use super::key::Key;

/// The first line in sight, and the number of lines with room. The room is known only when the page is drawn, and is needed to move
/// by a screen.
#[derive(Debug, Default)]
pub(super) struct Scroll {
    top: Cell<usize>,
    room: Cell<usize>,
}

impl Scroll {
    /// The first line to draw of `lines` lines in `room`, so that line `chosen` is in sight. It moves no further than necessary.
    pub(super) fn to_show(&self, chosen: usize, lines: usize, room: usize) -> usize {
        let lowest = (chosen + 1).saturating_sub(room);
        let top = self.within(lines, room);
        self.top.set(top.clamp(lowest, chosen.max(lowest)));
        self.top.get()
    }

    /// The first line to draw of `lines` lines in `room`.
    pub(super) fn within(&self, lines: usize, room: usize) -> usize {
        self.top.set(self.top.get().min(lines.saturating_sub(room)));
        self.room.set(room);
        self.top.get()
    }

    /// Scrolls; `false` if `key` does not scroll.
    pub(super) fn press(&self, key: Key) -> bool {
        let Some(top) = self.target(key, self.top.get()) else { return false };
        self.top.set(top);
        true
    }

    /// The line that `key` leads to from line `from`, possibly after the last one; `None` if it leads nowhere.
    pub(super) fn target(&self, key: Key, from: usize) -> Option<usize> {
        let page = self.room.get().max(1);
        match key {
            Key::Up | Key::Char('k') => Some(from.saturating_sub(1)),
            Key::Down | Key::Char('j') => Some(from.saturating_add(1)),
            Key::PageUp => Some(from.saturating_sub(page)),
            Key::PageDown | Key::Char(' ') => Some(from.saturating_add(page)),
            Key::Home | Key::Char('g') => Some(0),
            Key::End | Key::Char('G') => Some(usize::MAX),
            Key::Char(_)
            | Key::Enter
            | Key::Escape
            | Key::Backspace
            | Key::Tab
            | Key::BackTab
            | Key::Redraw
            | Key::Stop
            | Key::Interrupt => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_line_stays_visible_with_minimal_scrolling() {
        let scroll = Scroll::default();
        let tops = [0, 9, 10, 11, 5, 2, 1].map(|chosen| scroll.to_show(chosen, 30, 10));
        assert_eq!(tops, [0, 0, 1, 2, 2, 2, 1]);
        assert_eq!(scroll.to_show(29, 30, 10), 20);
        assert_eq!(scroll.to_show(11, 12, 10), 2);
        assert_eq!(scroll.to_show(3, 4, 0), 4);
    }

    #[test]
    fn end_key_puts_the_last_line_at_the_bottom() {
        let scroll = Scroll::default();
        assert!(scroll.press(Key::End));
        assert_eq!(scroll.within(30, 10), 20);
        assert!(scroll.press(Key::PageUp) && scroll.press(Key::Up));
        assert_eq!(scroll.within(30, 10), 9);
        assert!(!scroll.press(Key::Enter));
        assert_eq!(scroll.within(4, 10), 0);
    }
}
