//! The canvas of the page: cells, and the styles of tones.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::cells::{cut, printable};
use super::line::Line;
use crate::view::colour::{Colour, Tone};

/// The cells of one picture.
#[derive(Debug)]
pub(super) struct Canvas<'b> {
    buffer: &'b mut Buffer,
    colour: Colour,
}

impl<'b> Canvas<'b> {
    /// Draws into `buffer`.
    pub(super) const fn new(buffer: &'b mut Buffer, colour: Colour) -> Self {
        Self { buffer, colour }
    }

    pub(super) const fn width(&self) -> u16 {
        self.buffer.area.width
    }

    pub(super) const fn height(&self) -> u16 {
        self.buffer.area.height
    }

    /// Puts `text` at cell `x` of row `y`, at most `cells` wide, and returns the next cell. All text of the page passes through
    /// here, where unprintable characters are replaced.
    pub(super) fn put(&mut self, (x, y): (u16, u16), cells: u16, tone: Tone, text: &str) -> u16 {
        let text = cut(&printable(text), usize::from(cells));
        let area = self.buffer.area;
        if !area.contains((area.x + x, area.y + y).into()) {
            return x;
        }
        let (end, _) = self.buffer.set_stringn(area.x + x, area.y + y, text, usize::from(cells), style(self.colour, tone));
        end.saturating_sub(area.x)
    }

    /// Puts a line at the left of row `y`.
    pub(super) fn line(&mut self, y: u16, line: &Line) {
        let mut x = 0;
        for (tone, text) in line.parts() {
            let room = self.width().saturating_sub(x);
            x = self.put((x, y), room, *tone, text);
        }
    }

    /// Highlights row `y`. Without colours, only the mark before the row shows the selection.
    pub(super) fn stand_out(&mut self, y: u16) {
        if self.colour == Colour::On {
            let row = Rect { y: self.buffer.area.y + y, height: 1, ..self.buffer.area };
            self.buffer.set_style(row, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// The style of a tone, in the colours of the other views.
const fn style(colour: Colour, tone: Tone) -> Style {
    let plain = Style::new();
    match (colour, tone) {
        (Colour::Off, _) | (Colour::On, Tone::Plain) => plain,
        (Colour::On, Tone::Good) => plain.fg(Color::Green),
        (Colour::On, Tone::Notable) => plain.fg(Color::Yellow),
        (Colour::On, Tone::Bad) => plain.fg(Color::Red),
        (Colour::On, Tone::Heading) => plain.add_modifier(Modifier::BOLD),
        (Colour::On, Tone::Quiet) => plain.add_modifier(Modifier::DIM),
    }
}
