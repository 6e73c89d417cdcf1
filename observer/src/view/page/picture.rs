//! The picture: the places of all parts of the page.

use ratatui::buffer::Buffer;

use super::canvas::Canvas;
use super::detail::opened;
use super::line::{Line, first_lines};
use super::row::RowKey;
use super::sheet::Sheet;
use super::spots::Target;
use super::state::{Page, Reading};
use super::tab::Tab;
use super::widths::Sight;
use super::{about, account, grid, header, help, problems};
use crate::view::colour::Tone;

/// The smallest terminal with room for the page.
const SMALLEST: (u16, u16) = (60, 12);

/// If a terminal is narrower or lower than this, the last line names the parts that have no room.
const AMPLE: (u16, u16) = (80, 22);

/// The smallest height with room for sentences on the selected row, below the table.
const ACCOUNT_FROM: u16 = AMPLE.1;

/// The smallest height with room for a table and a detail.
const HIGH: u16 = 40;

/// Problems take at most the height of the terminal divided by this number.
const PROBLEMS: usize = 4;

/// Maximum number of lines of a recent message.
const MOST_NEWS: usize = 3;

/// A recent message takes at most the height of the terminal divided by this number.
const NEWS: usize = 8;

/// Lines around the table: the tabs, the headings, and the keys.
const AROUND: usize = 3;

/// Minimum number of table rows. Problems are cut to leave room for them; the header and messages are not.
const LEAST_ROWS: usize = 3;

/// The mark of the selected row.
const SELECTED: &str = "▸";

impl Page {
    /// Draws the page into an empty buffer.
    pub fn draw(&self, buffer: &mut Buffer) {
        let mut canvas = Canvas::new(buffer, self.colour);
        let (width, height) = (canvas.width(), canvas.height());
        self.spots.clear();
        if width < SMALLEST.0 || height < SMALLEST.1 {
            let text = format!("watchtap: {width}×{height} is too small, it needs {}×{} (q quits)", SMALLEST.0, SMALLEST.1);
            canvas.line(0, &Line::of(Tone::Plain, &text));
            return;
        }
        self.look((width, height));
        let cells = usize::from(width);
        let header = header::header(self, (width, height));
        let news = self.news_in_lines(cells, height);
        let mut y = 0;
        for line in header.lines.iter().chain(&self.problems(cells, height, header.lines.len() + news.len())) {
            canvas.line(y, line);
            y += 1;
        }
        canvas.line(y, &self.tabs(y, cells));
        let last = height - 1;
        let until = last.saturating_sub(u16::try_from(news.len()).unwrap_or(0)).max(y + 1);
        self.body(&mut canvas, y + 1, until);
        for (y, line) in (until..last).zip(&news) {
            canvas.line(y, line);
        }
        canvas.line(last, &self.footer(cells, &self.hidden((width, height), &header.hidden)));
    }

    /// The parts that have no room in a small terminal.
    fn hidden(&self, size: (u16, u16), header: &[&str]) -> Vec<String> {
        if size.0 >= AMPLE.0 && size.1 >= AMPLE.1 {
            return Vec::new();
        }
        let advice = (self.is_table() && size.1 < ACCOUNT_FROM).then(|| "advice".to_owned());
        self.hidden_columns().into_iter().chain(advice).chain(header.iter().map(|name| (*name).to_owned())).collect()
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
        Sheet::new(cells).with(&self.detail_widths, &self.clock)
    }

    /// The problems, while a table is shown. `others` is the number of lines of the header and of a message.
    fn problems(&self, cells: usize, height: u16, others: usize) -> Vec<Line> {
        let height = usize::from(height);
        let account = if height >= usize::from(ACCOUNT_FROM) { usize::from(account::LINES) } else { 0 };
        let most = height.saturating_sub(others + account + AROUND + LEAST_ROWS).min(height / PROBLEMS);
        let place = if self.tab == Tab::Findings { "see below" } else { "key 5" };
        if self.is_table() && most > 1 { problems::lines(&self.shown, cells, most, place) } else { Vec::new() }
    }

    /// The last message while it is recent, in lines above the keys.
    fn news_in_lines(&self, cells: usize, height: u16) -> Vec<Line> {
        let mut sheet = Sheet::new(cells);
        if let Some(news) = self.news() {
            sheet.hang("» ", Tone::Notable, news);
        }
        first_lines(sheet.into_lines(), MOST_NEWS.min(usize::from(height) / NEWS), cells)
    }

    /// Draws the rows from `from` up to, but not including, `until`.
    fn body(&self, canvas: &mut Canvas<'_>, from: u16, until: u16) {
        let cells = usize::from(canvas.width());
        match (self.reading, &self.opened) {
            (Some(Reading::Help), _) => self.text(canvas, from, until, &help::lines(cells, self.is_attached)),
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
        for (column, cells) in grid::spans(&shown) {
            self.spots.add(from, cells, Target::Heading(column));
        }
        let selected = self.selected(rows);
        let until = rows.get(selected).map_or(until, |row| self.below_table(canvas, from, until, &row.key));
        let top = table.scroll.to_show(selected, rows.len(), usize::from(until.saturating_sub(from + 1)));
        for (y, (place, row)) in (from + 1..until).zip(rows.iter().enumerate().skip(top)) {
            let mark = if place == selected { SELECTED } else { "" };
            canvas.line(y, &grid::row(columns, &shown, &row.cells, mark));
            self.spots.add(y, 0..canvas.width(), Target::Row(place));
            if place == selected {
                canvas.stand_out(y);
            }
        }
    }

    /// Draws the facts about the selected row below the table: its detail in a high terminal, a few sentences in a lower one,
    /// nothing in a small one. Their height depends only on the terminal. Returns the line at which they begin.
    fn below_table(&self, canvas: &mut Canvas<'_>, from: u16, until: u16, key: &RowKey) -> u16 {
        let room = until.saturating_sub(from);
        let cells = usize::from(canvas.width());
        if canvas.height() >= HIGH {
            let begin = until - room / 2;
            canvas.line(begin, &Line::of(Tone::Quiet, &"─".repeat(cells)));
            for (y, line) in (begin + 1..until).zip(opened(key, &self.shown, self.sheet(cells))) {
                canvas.line(y, &line);
            }
            return begin;
        }
        if canvas.height() < ACCOUNT_FROM {
            return until;
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
}
