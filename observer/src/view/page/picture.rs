//! The picture: the places of all parts of the page.

use ratatui::Frame;

use super::canvas::Canvas;
use super::cells::{printable, width};
use super::detail::opened;
use super::line::Line;
use super::row::RowKey;
use super::sheet::Sheet;
use super::state::{Page, Reading};
use super::tab::Tab;
use super::widths::Sight;
use super::{about, account, grid, header, help, problems};
use crate::view::colour::Tone;
use crate::view::quantity::count;

/// The smallest terminal with room for the page.
const SMALLEST: (u16, u16) = (80, 24);

/// The smallest height with room for a table and a detail.
const HIGH: u16 = 40;

/// The keys that work in a table.
const KEYS: [&str; 8] = ["enter open", "/ filter", "s sort", "p pause", "y copy", "i about", "? help", "q quit"];

/// One line of so many shows problems, at most.
const PROBLEMS: usize = 4;

/// Most lines of a recent message.
const MOST_NEWS: usize = 3;

/// The mark of the selected row.
const SELECTED: &str = "▸";

impl Page {
    /// Draws the page.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let mut canvas = Canvas::new(frame.buffer_mut(), self.colour);
        let (width, height) = (canvas.width(), canvas.height());
        if width < SMALLEST.0 || height < SMALLEST.1 {
            let text = format!("watchtap: {width}×{height} is too small, it needs {}×{} (q quits)", SMALLEST.0, SMALLEST.1);
            canvas.line(0, &Line::of(Tone::Plain, &text));
            return;
        }
        self.look((width, height));
        let cells = usize::from(width);
        let mut y = 0;
        for line in header::lines(&self.shown, &self.name, self.frozen_for(), cells) {
            canvas.line(y, &line);
            y += 1;
        }
        for line in self.problems(cells, height) {
            canvas.line(y, &line);
            y += 1;
        }
        canvas.line(y, &self.tabs());
        let last = height - 1;
        let news = self.news_in_lines(cells);
        let until = last - u16::try_from(news.len()).unwrap_or(0);
        self.body(&mut canvas, y + 1, until);
        for (y, line) in (until..last).zip(&news) {
            canvas.line(y, line);
        }
        canvas.line(last, &self.footer(cells));
    }

    /// Notes what the reader sees, on which the widths of columns depend.
    fn look(&self, size: (u16, u16)) {
        let table = Sight { tab: self.tab, filter: self.filter.text().to_owned(), size, row: None };
        let row = self.opened.clone().or_else(|| self.selected_key());
        self.detail_widths.look_at(Sight { row, ..table.clone() });
        self.widths.look_at(table);
    }

    /// An empty sheet for a detail, `cells` wide.
    pub(super) fn sheet(&self, cells: usize) -> Sheet<'_> {
        Sheet::new(cells).with_widths(&self.detail_widths)
    }

    /// The problems, while a table is shown.
    fn problems(&self, cells: usize, height: u16) -> Vec<Line> {
        if self.reading.is_some() || self.opened.is_some() {
            return Vec::new();
        }
        problems::lines(&self.shown, cells, usize::from(height) / PROBLEMS)
    }

    /// The last message while it is recent, in lines above the keys.
    fn news_in_lines(&self, cells: usize) -> Vec<Line> {
        let mut sheet = Sheet::new(cells);
        if let Some(news) = self.news() {
            sheet.hang("» ", Tone::Notable, news);
        }
        let mut lines = sheet.into_lines();
        lines.truncate(MOST_NEWS);
        lines
    }

    /// The names of the tables, with the current one in brackets.
    fn tabs(&self) -> Line {
        let mut line = Line::default();
        for tab in Tab::ALL {
            let name = format!("{} {} {}", tab.place() + 1, tab.name(), count(tab.number(&self.shown) as u64));
            line = match tab {
                _ if tab == self.tab => line.and(Tone::Heading, &format!("[{name}]")),
                Tab::Findings if !self.shown.findings.is_empty() => line.and(Tone::Notable, &format!(" {name} ")),
                Tab::Reflectors | Tab::Requests | Tab::Storms | Tab::Clients | Tab::Findings => {
                    line.and(Tone::Plain, &format!(" {name} "))
                }
            };
        }
        line
    }

    /// Draws rows `from` to `until`, without the last.
    fn body(&self, canvas: &mut Canvas<'_>, from: u16, until: u16) {
        let cells = usize::from(canvas.width());
        match (self.reading, &self.opened) {
            (Some(Reading::Help), _) => self.text(canvas, from, until, &help::lines(cells)),
            (Some(Reading::About), _) => self.text(canvas, from, until, &about::lines(self, cells)),
            (None, Some(key)) => self.text(canvas, from, until, &opened(key, &self.shown, self.sheet(cells))),
            (None, None) => self.rows_of_table(canvas, from, until),
        }
    }

    fn text(&self, canvas: &mut Canvas<'_>, from: u16, until: u16, lines: &[Line]) {
        let top = self.scroll.within(lines.len(), usize::from(until - from));
        for (y, line) in (from..until).zip(lines.iter().skip(top)) {
            canvas.line(y, line);
        }
    }

    fn rows_of_table(&self, canvas: &mut Canvas<'_>, from: u16, until: u16) {
        let rows = &self.rows_in_sight();
        if rows.is_empty() {
            return self.text(canvas, from, until, &self.emptiness(usize::from(canvas.width())));
        }
        let (columns, table) = (self.tab.columns(), self.table());
        let shown = self.widths.fit("", columns, rows.iter().map(|row| row.cells.as_slice()), canvas.width());
        canvas.line(from, &grid::headings(columns, &shown, table.order.sorted()));
        let selected = self.selected(rows);
        let until = rows.get(selected).map_or(until, |row| self.below_table(canvas, from, until, &row.key));
        let top = table.scroll.to_show(selected, rows.len(), usize::from(until - from - 1));
        for (y, (place, row)) in (from + 1..until).zip(rows.iter().enumerate().skip(top)) {
            let mark = if place == selected { SELECTED } else { "" };
            canvas.line(y, &grid::row(columns, &shown, &row.cells, mark));
            if place == selected {
                canvas.stand_out(y);
            }
        }
    }

    /// Draws the selected row below the table: in a high terminal the detail, as far as there is room, otherwise a few sentences.
    /// The height depends only on the terminal. Returns the row at which it begins.
    fn below_table(&self, canvas: &mut Canvas<'_>, from: u16, until: u16, key: &RowKey) -> u16 {
        let room = until - from;
        let cells = usize::from(canvas.width());
        if canvas.height() >= HIGH {
            let begin = until - room / 2;
            canvas.line(begin, &Line::of(Tone::Quiet, &"─".repeat(cells)));
            for (y, line) in (begin + 1..until).zip(opened(key, &self.shown, self.sheet(cells))) {
                canvas.line(y, &line);
            }
            return begin;
        }
        let account = account::lines(key, &self.shown, cells);
        for (y, line) in (until - u16::try_from(account.len()).unwrap_or(0)..until).zip(&account) {
            canvas.line(y, line);
        }
        until - account::LINES
    }

    /// Why there are no rows, and what to do.
    fn emptiness(&self, cells: usize) -> Vec<Line> {
        let mut sheet = Sheet::new(cells);
        sheet.skip();
        let totals = &self.shown.totals;
        if !self.rows.is_empty() {
            sheet.print(Tone::Plain, &format!("No row fits the filter {}. esc clears it, / changes it.", self.filter.text()));
        } else if totals.connections == 0 && totals.requests == 0 {
            sheet.print(Tone::Plain, "No client has connected yet:");
            sheet.skip();
            for line in &self.guidance {
                sheet.print(Tone::Plain, line);
            }
        } else {
            sheet.print(Tone::Plain, &self.tab.emptiness(&self.shown));
        }
        sheet.into_lines()
    }

    /// The prompt, otherwise the result of the last key, otherwise the available keys.
    fn footer(&self, cells: usize) -> Line {
        if let Some(prompt) = &self.prompt {
            let hint = if prompt.problem.is_empty() { "enter keeps it, esc does not" } else { &prompt.problem };
            let tone = if prompt.problem.is_empty() { Tone::Quiet } else { Tone::Bad };
            return Line::of(Tone::Plain, &end_of(&format!("/{}_", prompt.text), cells / 2)).and(tone, &format!("  {hint}"));
        }
        if !self.message.is_empty() {
            return Line::of(Tone::Notable, &self.message);
        }
        let plain = |text: &str| (Tone::Quiet, text.to_owned());
        let keys = match (self.reading, &self.opened) {
            (Some(_), _) => ["j k scroll", "esc back", "q quit"].map(plain).to_vec(),
            (None, Some(_)) => ["j k scroll", "esc back", "y copy", "p pause", "? help", "q quit"].map(plain).to_vec(),
            (None, None) => KEYS.map(plain).to_vec(),
        };
        let filter = self.filter_in_words().map(|text| (Tone::Notable, text));
        let is_stale = self.is_table() && self.table().order.is_stale();
        let order = is_stale.then(|| (Tone::Notable, "r reorder".to_owned()));
        Line::of_phrases(&filter.into_iter().chain(order).chain(keys).collect::<Vec<_>>(), cells)
    }

    /// The filter, and how many rows it hides.
    fn filter_in_words(&self) -> Option<String> {
        if self.filter.is_empty() || !self.is_table() {
            return None;
        }
        let passed_over = self.filter.passed_over(self.tab.filters());
        let passed_over = if passed_over.is_empty() { String::new() } else { format!(" (ignored: {})", passed_over.join(", ")) };
        let (seen, all) = (self.rows_in_sight().len() as u64, self.rows.len() as u64);
        Some(format!("filter {}: {} of {}{passed_over}", self.filter.text(), count(seen), count(all)))
    }
}

/// The last `cells` of the typed text.
fn end_of(text: &str, cells: usize) -> String {
    let text = printable(text);
    let mut kept = text.as_str();
    while width(kept) > cells {
        let mut characters = kept.chars();
        characters.next();
        kept = characters.as_str();
    }
    kept.to_owned()
}
