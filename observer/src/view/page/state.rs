//! The state of the page: the latest snapshot, and the user's choices.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use observer_core::observer::Snapshot;
use observer_core::time::Timestamp;

use super::cells::printable;
use super::clock::Clock;
use super::command::Command;
use super::filter::Filter;
use super::history::History;
use super::prompt::Prompt;
use super::row::{Row, RowKey};
use super::row_order::RowOrder;
use super::scroll::Scroll;
use super::spots::Spots;
use super::tab::Tab;
use super::widths::Widths;
use crate::view::colour::Colour;

/// Maximum number of messages that are kept.
const MOST_HEARD: usize = 20;

/// How often rows are sorted until a key is pressed.
const REARRANGE: Duration = Duration::from_secs(10);

/// How long a message stays above the keys.
const NEWS: Duration = Duration::from_secs(20);

/// The terminal page, except for the terminal: snapshots and keys in, pictures out. It reads no clock and does no I/O; *now* is the
/// time of the snapshot.
#[derive(Debug)]
pub struct Page {
    pub(super) colour: Colour,
    pub(super) clock: Clock,
    /// The name of the run, such as its context.
    pub(super) name: String,
    /// Instructions for connecting clients to watchtap.
    pub(super) guidance: Vec<String>,
    /// The command that runs behind watchtap; `None` if it started none.
    pub(super) command: Option<Command>,
    /// Whether the page is on the terminal of another process, so that leaving it ends nothing.
    pub(super) is_attached: bool,
    /// The newest snapshot.
    pub(super) latest: Arc<Snapshot>,
    /// The snapshot that is drawn: the newest, or the one at the moment of the pause.
    pub(super) shown: Arc<Snapshot>,
    pub(super) paused: bool,
    /// The rates of the snapshots so far.
    pub(super) history: History,
    pub(super) tab: Tab,
    pub(super) tables: [Table; Tab::ALL.len()],
    /// The rows of the tab in their current order, not filtered.
    pub(super) rows: Vec<Row>,
    /// Rows that have come since the rows were sorted. They are counted, and not shown until the user asks for them.
    new_rows: Vec<Row>,
    pub(super) filter: Filter,
    pub(super) prompt: Option<Prompt>,
    /// The row whose detail is open over the table.
    pub(super) opened: Option<RowKey>,
    /// The place to which esc returns from the requests of a client.
    pub(super) origin: Option<Origin>,
    /// The text that is open over everything else.
    pub(super) reading: Option<Reading>,
    /// The position in the text over the table.
    pub(super) scroll: Scroll,
    /// The clickable areas of the last frame.
    pub(super) spots: Spots,
    /// The widths of the table as drawn before.
    pub(super) widths: Widths,
    /// The widths of the tables of the detail as drawn before.
    pub(super) detail_widths: Widths,
    /// Whether a key was ever pressed, or the mouse was used. Until then, a user may only be looking, so rows are sorted at
    /// intervals.
    pub(super) touched: bool,
    /// When the rows were last sorted.
    arranged: Timestamp,
    /// The result of the last key.
    pub(super) message: String,
    /// Messages of the program with their times, latest last.
    pub(super) heard: VecDeque<(Timestamp, String)>,
}

/// The state of a tab, kept while another one is shown.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub order: RowOrder,
    pub scroll: Scroll,
    selected: Option<RowKey>,
    /// The place of the selected row, used when the row is gone.
    place: usize,
}

/// The place from which a user went to the requests of a client.
#[derive(Debug)]
pub(super) struct Origin {
    pub tab: Tab,
    pub filter: Filter,
    pub opened: Option<RowKey>,
}

/// A text about the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// The meaning of the keys and the words.
    Help,
    /// The basis of verdicts, the losses, and the cost of a restart.
    About,
}

impl Page {
    /// A page over `snapshot` for the run `name`. It shows `guidance`, instructions for connecting clients, until a client has
    /// connected.
    pub fn new(snapshot: Arc<Snapshot>, name: &str, guidance: Vec<String>, colour: Colour) -> Self {
        let mut page = Self {
            colour,
            clock: Clock::default(),
            name: printable(name),
            guidance,
            command: None,
            is_attached: false,
            latest: Arc::clone(&snapshot),
            shown: snapshot,
            paused: false,
            history: History::default(),
            tab: Tab::Reflectors,
            tables: Default::default(),
            rows: Vec::new(),
            new_rows: Vec::new(),
            filter: Filter::default(),
            prompt: None,
            opened: None,
            origin: None,
            reading: None,
            scroll: Scroll::default(),
            spots: Spots::default(),
            widths: Widths::default(),
            detail_widths: Widths::default(),
            touched: false,
            arranged: Timestamp::default(),
            message: String::new(),
            heard: VecDeque::new(),
        };
        page.arrange();
        page
    }

    /// The same page, whose times can be shown in `zone`, the zone of the machine.
    #[must_use]
    pub fn with_local_zone(self, zone: TimeZone) -> Self {
        Self { clock: Clock::with_zone(zone), ..self }
    }

    /// The same page, for the terminal of another process. Leaving or suspending it does not affect the run.
    #[must_use]
    pub fn for_another_process(self) -> Self {
        Self { is_attached: true, ..self }
    }

    /// Takes a newer snapshot. While the picture is frozen, the snapshot is kept for later.
    pub fn show(&mut self, snapshot: Arc<Snapshot>) {
        self.latest = snapshot;
        self.history.note(self.latest.at, &self.latest.rates);
        if !self.paused {
            self.shown = Arc::clone(&self.latest);
            if !self.touched && self.shown.at.since(self.arranged) >= REARRANGE {
                self.arrange();
            } else {
                self.take_rows();
            }
        }
    }

    /// Takes a message that watchtap prints while the page is shown.
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

    /// The last message while it is recent.
    pub(super) fn news(&self) -> Option<&str> {
        let (at, line) = self.heard.back()?;
        (self.latest.at.since(*at) < NEWS).then_some(line.as_str())
    }

    /// Freezes the picture, or continues with the newest snapshot.
    pub(super) fn toggle_pause(&mut self) {
        self.paused = !self.paused;
        self.show(Arc::clone(&self.latest));
    }

    /// How much older a frozen picture is than the newest snapshot; `None` if it is not frozen.
    pub(super) fn frozen_for(&self) -> Option<Duration> {
        self.paused.then(|| self.latest.at.since(self.shown.at))
    }

    pub(super) fn turn_to(&mut self, tab: Tab) {
        self.tab = tab;
        (self.opened, self.reading, self.origin) = (None, None, None);
        self.arrange();
    }

    /// Sorts the rows of the tab, new ones included, in the order that the user asked for.
    pub(super) fn arrange(&mut self) {
        self.arranged = self.shown.at;
        self.rows = self.tab.rows(&self.shown, &self.clock);
        self.tables[self.tab.place()].order.sort(&mut self.rows);
        self.new_rows.clear();
    }

    /// Takes the current rows of the tab, and keeps their places. Until the first key press, and in an empty table, new rows follow
    /// at the end; otherwise they wait.
    pub(super) fn take_rows(&mut self) {
        let order = &mut self.tables[self.tab.place()].order;
        (self.rows, self.new_rows) = order.keep(self.tab.rows(&self.shown, &self.clock));
        if !self.touched {
            self.rows.append(&mut self.new_rows);
            order.remember(&self.rows);
        } else if self.rows_in_sight().is_empty() && self.new_rows_in_sight() > 0 {
            self.arrange();
        }
    }

    /// The number of new rows that match the filter.
    pub(super) fn new_rows_in_sight(&self) -> usize {
        self.new_rows.iter().filter(|row| self.filter.fits(row, self.tab.answers())).count()
    }

    /// Whether the table is shown, without a detail or a text over it.
    pub(super) const fn is_table(&self) -> bool {
        self.opened.is_none() && self.reading.is_none()
    }

    pub(super) const fn table(&self) -> &Table {
        &self.tables[self.tab.place()]
    }

    pub(super) const fn table_mut(&mut self) -> &mut Table {
        &mut self.tables[self.tab.place()]
    }

    /// The rows that match the filter.
    pub(super) fn rows_in_sight(&self) -> Vec<&Row> {
        self.rows.iter().filter(|row| self.filter.fits(row, self.tab.answers())).collect()
    }

    /// The index of the selected row in `rows`; if that row is gone, the one in its place.
    pub(super) fn selected(&self, rows: &[&Row]) -> usize {
        let table = self.table();
        let known = rows.iter().position(|row| Some(&row.key) == table.selected.as_ref());
        known.unwrap_or(table.place).min(rows.len().saturating_sub(1))
    }

    /// The key of the selected row.
    pub(super) fn selected_key(&self) -> Option<RowKey> {
        let rows = self.rows_in_sight();
        rows.get(self.selected(&rows)).map(|row| row.key.clone())
    }

    /// Selects the row at `place`, or the last row if there are fewer.
    pub(super) fn select(&mut self, place: usize) {
        let rows = self.rows_in_sight();
        let place = place.min(rows.len().saturating_sub(1));
        let selected = rows.get(place).map(|row| row.key.clone());
        let table = self.table_mut();
        (table.selected, table.place) = (selected, place);
    }
}
