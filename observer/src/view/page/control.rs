//! The effects of keys.

use super::binding::{Act, Place, Travel, act_of};
use super::filter::Filter;
use super::filter_key::FilterKey;
use super::key::{Key, Outcome};
use super::prompt::Prompt;
use super::row::RowKey;
use super::scroll::Scroll;
use super::state::{Origin, Page, Reading};
use super::tab::Tab;
use crate::view::client::program;

impl Page {
    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Outcome {
        self.message.clear();
        let place = self.place();
        match (act_of(key, place), key) {
            (Some(Act::Quit), _) => return Outcome::Quit,
            (Some(Act::Redraw), _) => return Outcome::Redraw,
            (Some(Act::Suspend), _) => return Outcome::Stop,
            (Some(Act::Copy), _) => {
                self.touched = true;
                return self.copy();
            }
            (Some(Act::Note), _) => {
                self.touched = true;
                return self.copy_note();
            }
            (Some(Act::SaveNote), _) => {
                self.touched = true;
                return self.write_note();
            }
            (Some(act), _) => self.act(act),
            (None, Key::Char(character)) if place == Place::Prompt => self.edit_filter(|prompt| prompt.push(character)),
            (None, _) => {}
        }
        self.touched = true;
        Outcome::Stay
    }

    /// The part of the page that takes keys.
    pub(super) const fn place(&self) -> Place {
        match (&self.prompt, self.reading, &self.opened) {
            (Some(_), _, _) => Place::Prompt,
            (None, Some(_), _) => Place::Text,
            (None, None, Some(_)) => Place::Detail,
            (None, None, None) => Place::Table,
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::TurnTo(tab) => self.turn_to(tab),
            Act::NextTab => self.turn_to(self.tab.next()),
            Act::PreviousTab => self.turn_to(self.tab.previous()),
            Act::Travel(travel) => self.travel(travel),
            Act::Open => self.open(),
            Act::Back => self.back(),
            Act::Help => self.read(Reading::Help),
            Act::About => self.read(Reading::About),
            Act::BeginFilter => self.begin_filter(),
            Act::KeepFilter => self.keep_filter(),
            Act::DropFilter => self.drop_filter(),
            Act::DeleteCharacter => self.edit_filter(Prompt::pop),
            Act::FilterOnRow => self.filter_on_selected(),
            Act::ShowRequests => self.show_requests(),
            Act::SortByNext => self.sort_by_next(),
            Act::Reverse => self.reverse(),
            Act::Arrange => self.arrange(),
            Act::ChangeZone => self.change_zone(),
            Act::Pause => self.toggle_pause(),
            // These end in an outcome other than a drawing.
            Act::Copy | Act::Note | Act::SaveNote | Act::Quit | Act::Redraw | Act::Suspend => {}
        }
    }

    /// Moves through the rows, or through the lines of the text over them.
    fn travel(&mut self, travel: Travel) {
        if self.is_table() {
            let from = self.selected(&self.rows_in_sight());
            self.select(self.table().scroll.target(travel, from));
        } else {
            self.scroll.travel(travel);
        }
    }

    /// Opens a text, or closes it if it is open.
    fn read(&mut self, reading: Reading) {
        self.reading = if self.reading == Some(reading) { None } else { Some(reading) };
        self.scroll = Scroll::default();
    }

    fn open(&mut self) {
        let Some(key) = self.selected_key() else { return };
        self.select(self.selected(&self.rows_in_sight()));
        self.opened = Some(key);
        self.scroll = Scroll::default();
    }

    /// Goes one step back: closes the text, otherwise the opened row, otherwise returns to the client whose requests are shown,
    /// otherwise clears the filter.
    fn back(&mut self) {
        self.scroll = Scroll::default();
        if self.reading.take().is_some() || self.opened.take().is_some() {
            return;
        }
        match self.origin.take() {
            Some(origin) => {
                self.filter = origin.filter;
                self.turn_to(origin.tab);
                self.opened = origin.opened;
            }
            None => self.filter = Filter::default(),
        }
    }

    /// Shows the requests of the selected or opened client.
    fn show_requests(&mut self) {
        let key = self.opened.clone().or_else(|| self.selected_key());
        let Some(client) = key.and_then(|key| self.client_of(&key)) else {
            "no client is selected: see tabs 1 and 4".clone_into(&mut self.message);
            return;
        };
        match Filter::term(FilterKey::Client, &client).map(|term| Filter::parse(&term)) {
            Some(Ok(filter)) => {
                self.select(self.selected(&self.rows_in_sight()));
                let origin =
                    Origin { tab: self.tab, filter: std::mem::replace(&mut self.filter, filter), opened: self.opened.take() };
                self.turn_to(Tab::Requests);
                self.origin = Some(origin);
                self.message = format!("requests of {client}; the numbers count all clients");
            }
            Some(Err(_)) | None => self.message = format!("no filter selects {client}"),
        }
    }

    /// The name of the client that a row is about.
    fn client_of(&self, key: &RowKey) -> Option<String> {
        let rows = &self.shown.reflectors;
        let row = match key {
            RowKey::Client(id) => rows.iter().find(|row| row.client_id == *id),
            RowKey::Reflector(id) => rows.iter().find(|row| row.reflector == *id),
            RowKey::Request(_) | RowKey::Storm(_) | RowKey::Finding(_) => None,
        };
        row.map(|row| program(&row.client))
    }

    fn change_zone(&mut self) {
        if self.clock.toggle() {
            self.take_rows();
        } else {
            "the zone of this machine is unknown, so times are in UTC".clone_into(&mut self.message);
        }
    }

    fn sort_by_next(&mut self) {
        let columns = self.tab.columns().len();
        self.table_mut().order.next_column(columns);
        self.show_order();
    }

    /// Sorts by a column; if the rows are sorted by it already, reverses the order.
    pub(super) fn sort_by(&mut self, column: usize) {
        self.table_mut().order.by_column(column);
        self.show_order();
    }

    /// Sorts the rows, and names the column.
    fn show_order(&mut self) {
        self.arrange();
        self.select(0);
        let columns = self.tab.columns();
        let (by, _) = self.table().order.sorted();
        self.message = match by.and_then(|column| columns.get(column)) {
            Some(column) => format!("sorted by {}", column.heading),
            None => "default order: the worst first".to_owned(),
        };
    }

    fn reverse(&mut self) {
        self.table_mut().order.reverse();
        self.arrange();
        self.select(0);
    }

    /// Opens the prompt, with the current filter in it.
    fn begin_filter(&mut self) {
        let text = if self.filter.is_empty() { String::new() } else { format!("{} ", self.filter.text()) };
        self.prompt = Some(Prompt { text, problem: String::new(), before: self.filter.clone() });
    }

    /// Closes the prompt, unless there is a problem with its text.
    fn keep_filter(&mut self) {
        self.prompt = self.prompt.take().filter(|prompt| !prompt.problem.is_empty());
    }

    /// Closes the prompt, and restores the filter that was active before.
    fn drop_filter(&mut self) {
        if let Some(prompt) = self.prompt.take() {
            self.filter = prompt.before;
        }
    }

    /// Changes the typed text, and applies it as a filter, if it is valid.
    fn edit_filter(&mut self, edit: impl FnOnce(&mut Prompt)) {
        let Some(mut prompt) = self.prompt.take() else { return };
        edit(&mut prompt);
        match Filter::parse(&prompt.text) {
            Ok(filter) => (self.filter, prompt.problem) = (filter, String::new()),
            Err(problem) => prompt.problem = problem,
        }
        self.prompt = Some(prompt);
    }

    /// Filters by the client and the resource of the selected row.
    fn filter_on_selected(&mut self) {
        let rows = self.rows_in_sight();
        let Some(row) = rows.get(self.selected(&rows)) else { return };
        let only = |key: FilterKey| {
            let mut facts = row.facts.iter().filter(|(fact, _)| *fact == key);
            facts.next().filter(|_| facts.next().is_none())
        };
        let facts = [FilterKey::Client, FilterKey::Resource].into_iter().filter_map(only);
        let text: Vec<String> = facts.filter_map(|(key, text)| Filter::term(*key, text)).collect();
        match Filter::parse(&text.join(" ")) {
            Ok(filter) if !filter.is_empty() => self.filter = filter,
            Ok(_) => "this row has no single client or resource to filter by".clone_into(&mut self.message),
            Err(problem) => self.message = problem,
        }
    }
}
