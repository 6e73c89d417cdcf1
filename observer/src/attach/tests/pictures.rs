//! Pictures: the same cells on both sides, and nothing but cells.

use proptest::collection::vec;
use proptest::prelude::*;
use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::super::picture::{LARGEST, Picture};
use crate::printable::is_shown;
use crate::view::Colour;

proptest! {
    #[test]
    fn picture_reproduces_every_cell(one in screen(), other in screen(), again in screen()) {
        let mut shown = Buffer::default();
        let mut previous = Buffer::default();
        for next in [one, other, again] {
            let picture = Picture::between(&previous, &next);
            let sent: Picture = serde_json::from_str(&serde_json::to_string(&picture).unwrap()).unwrap();
            sent.apply(&mut shown, Colour::On).unwrap();
            prop_assert_eq!(&shown, &next);
            previous = next;
        }
        prop_assert_eq!(serde_json::to_string(&Picture::between(&previous, &shown)).unwrap().matches('[').count(), 2, "no cell");
    }

    #[test]
    fn picture_of_a_hostile_run_neither_panics_nor_controls_the_terminal(
        columns in any::<u16>(), lines in any::<u16>(), small in any::<bool>(),
        runs in vec((0_u16..200, 0_u16..600, any::<u8>(), any::<String>()), 0..20),
        symbols in vec((0_u16..200, any::<u16>(), 0_u8..32, "[\\u{0}-\\u{10ffff}]{0,12}"), 0..20),
    ) {
        let size = if small { (columns % 90, lines % 40) } else { (columns, lines) };
        let sent = serde_json::json!({
            "size": {"columns": size.0, "lines": size.1}, "characters": runs, "symbols": symbols,
        });
        let mut shown = Buffer::default();
        if let Ok(picture) = serde_json::from_value::<Picture>(sent) {
            let _misplaced = picture.apply(&mut shown, Colour::On);
        }
        prop_assert!(shown.area.width <= LARGEST.columns && shown.area.height <= LARGEST.lines);
        for cell in &shown.content {
            prop_assert!(cell.symbol().chars().all(is_shown) && cell.symbol().chars().count() <= 8);
            prop_assert!(cell.symbol().cell_width() >= 1);
        }
    }
}

/// A screen with text of all widths in all styles of the page.
fn screen() -> impl Strategy<Value = Buffer> {
    let text = "([a-z ]|控|e\u{301}|🙂|→|\u{a0}){0,40}";
    ((1_u16..50, 1_u16..8), vec((0_u16..50, 0_u16..8, text, 0_usize..4, 0_usize..8), 0..20)).prop_map(|((width, height), texts)| {
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        for (x, y, text, colour, modifiers) in texts {
            let mut style = Style::new().fg([Color::Reset, Color::Green, Color::Yellow, Color::Red][colour]);
            for (bit, modifier) in [Modifier::BOLD, Modifier::DIM, Modifier::REVERSED].into_iter().enumerate() {
                if modifiers & (1 << bit) != 0 {
                    style = style.add_modifier(modifier);
                }
            }
            if x < width && y < height {
                buffer.set_stringn(x, y, text, usize::from(width - x), style);
            }
        }
        buffer
    })
}
