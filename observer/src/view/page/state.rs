//! What the page shows: the latest snapshot, and what the person chose.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use observer_core::observer::Snapshot;
use observer_core::time::Timestamp;

use super::cells::printable;
use super::filter::Filter;
use super::prompt::Prompt;
use super::row::{Row, RowKey};
use super::row_order::RowOrder;
use super::scroll::Scroll;
use super::tab::Tab;
use crate::view::colour::Colour;

/// Lines that were said and can still be read.
const MOST_HEARD: usize = 20;

/// How often rows are put in order where nobody has pressed a key.
const REARRANGE: Duration = Duration::from_secs(10);

/// How long a line that was said stands above the keys.
const NEWS: Duration = Duration::from_secs(20);

/// The terminal page, but for the terminal: snapshots and keys in, pictures out. It reads no clock and does no I/O; *now* is the time of
/// the snapshot.
#[derive(Debug)]
pub struct Page {
    pub(super) colour: Colour,
    /// What is watched, in a word.
    pub(super) name: String,
    /// What to do so that clients come.
    pub(super) guidance: Vec<String>,
    /// The newest snapshot.
    pub(super) latest: Arc<Snapshot>,
    /// The one that is drawn: the newest, or that of the moment of the pause.
    pub(super) shown: Arc<Snapshot>,
    pub(super) paused: bool,
    pub(super) tab: Tab,
    pub(super) tables: [Table; Tab::ALL.len()],
    /// The rows of the tab, in the order in which they stand; not yet filtered.
    pub(super) rows: Vec<Row>,
    pub(super) filter: Filter,
    pub(super) prompt: Option<Prompt>,
    /// The row that is opened, over the table.
    pub(super) opened: Option<RowKey>,
    /// What is read over all else.
    pub(super) reading: Option<Reading>,
    /// Of what lies over the table.
    pub(super) scroll: Scroll,
    /// Whether a key was ever pressed. Before, somebody only looks on, for whom the worst has to come to the top by itself.
    pub(super) touched: bool,
    /// When the rows were last put in order.
    arranged: Timestamp,
    /// What came of the last key.
    pub(super) message: String,
    /// What was said to it, the latest last, and when.
    pub(super) heard: VecDeque<(Timestamp, String)>,
}

/// What a tab remembers while another is in sight.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub order: RowOrder,
    pub scroll: Scroll,
    selected: Option<RowKey>,
    /// Where the selected row was, for when it is gone.
    place: usize,
}

/// A text about the whole page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The keys and the words.
    Help,
    /// What verdicts rest on, what was missed, and what a restart would cost.
    About,
}

impl Page {
    /// A page over `snapshot` of what is called `name`. `guidance` says what to do so that clients come, as long as none has.
    pub fn new(snapshot: Arc<Snapshot>, name: &str, guidance: Vec<String>, colour: Colour) -> Self {
        let mut page = Self {
            colour,
            name: printable(name),
            guidance,
            latest: Arc::clone(&snapshot),
            shown: snapshot,
            paused: false,
            tab: Tab::Reflectors,
            tables: Default::default(),
            rows: Vec::new(),
            filter: Filter::default(),
            prompt: None,
            opened: None,
            reading: None,
            scroll: Scroll::default(),
            touched: false,
            arranged: Timestamp::default(),
            message: String::new(),
            heard: VecDeque::new(),
        };
        page.arrange();
        page
    }

    /// Takes a newer snapshot. While the picture is frozen it is kept for later.
    pub fn show(&mut self, snapshot: Arc<Snapshot>) {
        self.latest = snapshot;
        if !self.paused {
            self.shown = Arc::clone(&self.latest);
            if !self.touched && self.shown.at.since(self.arranged) >= REARRANGE {
                self.arrange();
            } else {
                self.take_rows();
            }
        }
    }

    /// Takes a line that the program says while the page has its terminal.
    pub fn hear(&mut self, line: &str) {
        let line = line.strip_prefix("watchtap: ").unwrap_or(line);
        if line.is_empty() {
            return;
        }
        if self.heard.len() == MOST_HEARD {
            self.heard.pop_front();
        }
        self.heard.push_back((self.latest.at, line.to_owned()));
    }

    /// What was said last, while it is news.
    pub(super) fn news(&self) -> Option<&str> {
        let (at, line) = self.heard.back()?;
        (self.latest.at.since(*at) < NEWS).then_some(line.as_str())
    }

    /// Freezes the picture, or goes on with what is newest.
    pub(super) fn toggle_pause(&mut self) {
        self.paused = !self.paused;
        self.show(Arc::clone(&self.latest));
    }

    /// By how much a frozen picture is older than what is known.
    pub(super) fn frozen_for(&self) -> Option<Duration> {
        self.paused.then(|| self.latest.at.since(self.shown.at))
    }

    pub(super) fn turn_to(&mut self, tab: Tab) {
        self.tab = tab;
        (self.opened, self.reading) = (None, None);
        self.arrange();
    }

    /// The rows of the tab, in the order that the person asked for.
    pub(super) fn arrange(&mut self) {
        self.arranged = self.shown.at;
        self.rows = self.tab.rows(&self.shown);
        self.tables[self.tab.place()].order.sort(&mut self.rows);
    }

    /// The rows of the tab as they are now, where they were.
    fn take_rows(&mut self) {
        self.rows = self.tab.rows(&self.shown);
        self.tables[self.tab.place()].order.keep(&mut self.rows);
    }

    /// Whether nothing lies over the table.
    pub(super) const fn is_table(&self) -> bool {
        self.opened.is_none() && self.reading.is_none()
    }

    pub(super) const fn table(&self) -> &Table {
        &self.tables[self.tab.place()]
    }

    pub(super) const fn table_mut(&mut self) -> &mut Table {
        &mut self.tables[self.tab.place()]
    }

    /// The rows that the filter lets through.
    pub(super) fn rows_in_sight(&self) -> Vec<&Row> {
        self.rows.iter().filter(|row| self.filter.fits(row, self.tab.filters())).collect()
    }

    /// The selected one of `rows`: the one that was selected, or what is now in its place.
    pub(super) fn selected(&self, rows: &[&Row]) -> usize {
        let table = self.table();
        let known = rows.iter().position(|row| Some(&row.key) == table.selected.as_ref());
        known.unwrap_or(table.place).min(rows.len().saturating_sub(1))
    }

    /// What the selected row is about.
    pub(super) fn selected_key(&self) -> Option<RowKey> {
        let rows = self.rows_in_sight();
        rows.get(self.selected(&rows)).map(|row| row.key.clone())
    }

    /// Selects the row at `place`, or the last one.
    pub(super) fn select(&mut self, place: usize) {
        let rows = self.rows_in_sight();
        let place = place.min(rows.len().saturating_sub(1));
        let selected = rows.get(place).map(|row| row.key.clone());
        let table = self.table_mut();
        (table.selected, table.place) = (selected, place);
    }
}
