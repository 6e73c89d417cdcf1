//! The part of a long text or table that is in sight.

use std::cell::Cell;

use super::binding::Travel;

/// Lines that a step of the wheel scrolls.
const WHEEL: usize = 3;

/// The first line in sight, and the number of lines for which there is room. The room is known only when the page is drawn, and is
/// needed to move by a screen.
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

    /// Scrolls; the next drawing limits this to the lines that there are.
    pub(super) fn travel(&self, travel: Travel) {
        self.top.set(self.target(travel, self.top.get()));
    }

    /// Scrolls by a step of the wheel; the next drawing limits this to the lines that there are.
    pub(super) fn turn_wheel(&self, down: bool) {
        let top = self.top.get();
        self.top.set(if down { top.saturating_add(WHEEL) } else { top.saturating_sub(WHEEL) });
    }

    /// Scrolls by a step of the wheel within `lines` lines. Returns the first and the last line in sight; `None` if no line is in
    /// sight.
    pub(super) fn turn_wheel_over(&self, down: bool, lines: usize) -> Option<(usize, usize)> {
        self.turn_wheel(down);
        let room = self.room.get();
        let top = self.within(lines, room);
        let last = top.saturating_add(room).min(lines).checked_sub(1)?;
        (last >= top).then_some((top, last))
    }

    /// The line that `travel` leads to from line `from`, possibly after the last one.
    pub(super) fn target(&self, travel: Travel, from: usize) -> usize {
        let page = self.room.get().max(1);
        match travel {
            Travel::Up => from.saturating_sub(1),
            Travel::Down => from.saturating_add(1),
            Travel::PageUp => from.saturating_sub(page),
            Travel::PageDown => from.saturating_add(page),
            Travel::First => 0,
            Travel::Last => usize::MAX,
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
        scroll.travel(Travel::Last);
        assert_eq!(scroll.within(30, 10), 20);
        scroll.travel(Travel::PageUp);
        scroll.travel(Travel::Up);
        assert_eq!(scroll.within(30, 10), 9);
        assert_eq!(scroll.within(4, 10), 0);
    }
}
