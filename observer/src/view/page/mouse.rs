//! The acts of the mouse, and their effects.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use serde::{Deserialize, Serialize};

use super::binding::Place;
use super::spots::Target;
use super::state::Page;

/// An act of the mouse with a meaning on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mouse {
    /// The wheel turns towards the user: later lines come into sight.
    WheelDown,
    /// The wheel turns away from the user.
    WheelUp,
    /// The left button is pressed at a cell, counted from 0 at the top left.
    Press {
        /// The cell from the left.
        x: u16,
        /// The line from the top.
        y: u16,
    },
}

impl Mouse {
    /// The act of a terminal event; `None` for acts without a meaning here.
    pub const fn of(event: &MouseEvent) -> Option<Self> {
        match event.kind {
            MouseEventKind::ScrollDown => Some(Self::WheelDown),
            MouseEventKind::ScrollUp => Some(Self::WheelUp),
            MouseEventKind::Down(MouseButton::Left) => Some(Self::Press { x: event.column, y: event.row }),
            MouseEventKind::Down(MouseButton::Right | MouseButton::Middle)
            | MouseEventKind::Up(_)
            | MouseEventKind::Drag(_)
            | MouseEventKind::Moved
            | MouseEventKind::ScrollLeft
            | MouseEventKind::ScrollRight => None,
        }
    }
}

impl Page {
    /// Handles an act of the mouse: the wheel scrolls, a press selects a row, opens a tab, or sorts by a column. While a filter is
    /// typed, presses have no effect.
    pub fn mouse(&mut self, mouse: Mouse) {
        self.message.clear();
        self.touched = true;
        match mouse {
            Mouse::WheelDown => self.turn_wheel(true),
            Mouse::WheelUp => self.turn_wheel(false),
            Mouse::Press { x, y } if self.place() != Place::Prompt => self.press_at(x, y),
            Mouse::Press { .. } => {}
        }
    }

    /// Scrolls the table or the text over it. The selection stays in sight.
    fn turn_wheel(&mut self, down: bool) {
        if !self.is_table() {
            self.scroll.turn_wheel(down);
            return;
        }
        let rows = self.rows_in_sight();
        let (selected, number) = (self.selected(&rows), rows.len());
        if let Some((first, last)) = self.table().scroll.turn_wheel_over(down, number) {
            self.select(selected.clamp(first, last));
        }
    }

    fn press_at(&mut self, x: u16, y: u16) {
        match self.spots.at(x, y) {
            Some(Target::Tab(tab)) => self.turn_to(tab),
            Some(Target::Heading(column)) => self.sort_by(column),
            Some(Target::Row(place)) => self.select(place),
            None => {}
        }
    }
}
