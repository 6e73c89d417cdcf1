//! A picture on its way to another process: the cells that differ from the previous picture.

use ratatui::buffer::{Buffer, Cell, CellWidth as _};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use serde::{Deserialize, Serialize};

use crate::memory_budget::AttachedPages;
use crate::printable::{Printable, REPLACEMENT, is_shown};
use crate::view::Colour;

/// The largest picture. A larger terminal shows it in its top left corner. It bounds the memory of a page, on both sides; a run with
/// little memory has a lower bound.
pub(super) const LARGEST: Size = Size { columns: AttachedPages::MOST.columns, lines: AttachedPages::MOST.lines };

/// Maximum number of code points in one cell. The page has no more either.
const MOST_MARKS: usize = 8;

/// The size of a terminal in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) lines: u16,
}

/// The cells that have changed. If the size differs from that of the previous picture, all other cells are blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Picture {
    size: Size,
    /// Neighbouring cells of one style, each with one character.
    characters: Vec<Run>,
    /// Cells with several code points, or a wide character.
    symbols: Vec<Run>,
}

/// Text at a place: line, column, style, text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run(u16, u16, CellStyle, String);

/// The style of a cell, as the page uses them: two bits for the colour, one each for bold, dim and reversed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
struct CellStyle(u8);

/// The modifiers of the page, and their bits.
const MODIFIERS: [(Modifier, u8); 3] = [(Modifier::BOLD, 4), (Modifier::DIM, 8), (Modifier::REVERSED, 16)];
/// The colours of the page, by their number.
const COLOURS: [Color; 4] = [Color::Reset, Color::Green, Color::Yellow, Color::Red];
/// The bits of the colour.
const OF_COLOUR: u8 = 3;

/// A picture that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a picture has cells outside of its size")]
pub(super) struct Misplaced;

impl Size {
    /// This size, or that of its top left corner.
    pub(super) fn within(self, largest: Self) -> Self {
        Self { columns: self.columns.min(largest.columns), lines: self.lines.min(largest.lines) }
    }

    pub(super) const fn area(self) -> Rect {
        Rect { x: 0, y: 0, width: self.columns, height: self.lines }
    }
}

impl AttachedPages {
    /// The largest picture of a page.
    pub(super) const fn largest(self) -> Size {
        Size { columns: self.columns, lines: self.lines }
    }
}

impl Picture {
    /// The difference between two pictures.
    pub(super) fn between(previous: &Buffer, next: &Buffer) -> Self {
        let area = next.area;
        let blank = Cell::default();
        let is_comparable = previous.area == area;
        let mut picture =
            Self { size: Size { columns: area.width, lines: area.height }, characters: Vec::new(), symbols: Vec::new() };
        for position in area.positions() {
            let (Some(cell), former) = (next.cell(position), previous.cell(position)) else { continue };
            let former = former.filter(|_| is_comparable).unwrap_or(&blank);
            if !is_same(former, cell) {
                picture.push(position, cell);
            }
        }
        picture
    }

    fn push(&mut self, Position { x, y }: Position, cell: &Cell) {
        let (style, symbol) = (CellStyle::of(cell), cell.symbol());
        let mut characters = symbol.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else {
            self.symbols.push(Run(y, x, style, symbol.to_owned()));
            return;
        };
        if !is_narrow(character) {
            self.symbols.push(Run(y, x, style, symbol.to_owned()));
            return;
        }
        match self.characters.last_mut() {
            Some(Run(line, column, former, text))
                if *line == y && *former == style && usize::from(*column) + text.chars().count() == usize::from(x) =>
            {
                text.push(character);
            }
            _ => self.characters.push(Run(y, x, style, character.to_string())),
        }
    }

    /// Changes the cells of `shown`. All text passes the gate, and a cell that a terminal would not show as one is replaced.
    pub(super) fn apply(&self, shown: &mut Buffer, colour: Colour) -> Result<(), Misplaced> {
        if self.size != self.size.within(LARGEST) {
            return Err(Misplaced);
        }
        if shown.area != self.size.area() {
            *shown = Buffer::empty(self.size.area());
        }
        for Run(line, column, style, text) in &self.characters {
            let columns = (0..=u16::MAX).map(|offset| column.checked_add(offset));
            for (character, column) in text.chars().zip(columns) {
                let cell = column.and_then(|column| shown.cell_mut((column, *line))).ok_or(Misplaced)?;
                if is_narrow(character) {
                    cell.set_char(character)
                } else {
                    cell.set_symbol(REPLACEMENT)
                };
                style.paint(cell, colour);
            }
        }
        for Run(line, column, style, symbol) in &self.symbols {
            let room = self.size.columns.saturating_sub(*column);
            let cell = shown.cell_mut((*column, *line)).ok_or(Misplaced)?;
            cell.set_symbol(&gated(symbol, room));
            style.paint(cell, colour);
        }
        Ok(())
    }
}

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        let colour = COLOURS.iter().zip(0..).find(|(colour, _)| **colour == cell.fg).map_or(0, |(_, number)| number);
        let modifiers = MODIFIERS.iter().filter(|(modifier, _)| cell.modifier.contains(*modifier)).map(|(_, bit)| bit);
        Self(modifiers.fold(colour, |bits, bit| bits | bit))
    }

    /// Sets the style of a cell. A terminal without colours has no styles either.
    fn paint(self, cell: &mut Cell, colour: Colour) {
        let mut style = Style::reset();
        if colour == Colour::On {
            if let Some(colour) = COLOURS.get(usize::from(self.0 & OF_COLOUR)) {
                style = style.fg(*colour);
            }
            let modifiers = MODIFIERS.iter().filter(|(_, bit)| self.0 & bit != 0);
            style = modifiers.fold(style, |style, (modifier, _)| style.add_modifier(*modifier));
        }
        cell.set_style(style);
    }
}

impl TryFrom<u8> for CellStyle {
    type Error = &'static str;

    fn try_from(bits: u8) -> Result<Self, Self::Error> {
        let known = MODIFIERS.iter().fold(OF_COLOUR, |bits, (_, bit)| bits | bit);
        if bits & !known == 0 { Ok(Self(bits)) } else { Err("an unknown style") }
    }
}

impl From<CellStyle> for u8 {
    fn from(style: CellStyle) -> Self {
        style.0
    }
}

fn is_same(one: &Cell, other: &Cell) -> bool {
    one.symbol() == other.symbol() && CellStyle::of(one) == CellStyle::of(other)
}

/// Whether a terminal shows the character in exactly one cell.
fn is_narrow(character: char) -> bool {
    is_shown(character) && character.encode_utf8(&mut [0; 4]).cell_width() == 1
}

/// The text of one cell, if a terminal shows it as one, within `room` cells.
fn gated(symbol: &str, room: u16) -> String {
    if symbol.chars().count() <= MOST_MARKS {
        let gated = Printable::of(symbol).into_string();
        if (1..=room).contains(&gated.cell_width()) {
            return gated;
        }
    }
    REPLACEMENT.to_owned()
}
