//! The effects of keys.

use super::filter::{Filter, FilterKey};
use super::key::{Key, Outcome};
use super::prompt::Prompt;
use super::raw;
use super::request_row::RequestRow;
use super::row::RowKey;
use super::scroll::Scroll;
use super::state::{Page, Reading};
use super::tab::Tab;

impl Page {
    /// Handles a key.
    pub fn key(&mut self, key: Key) -> Outcome {
        self.message.clear();
        if key == Key::Interrupt {
            return Outcome::Quit;
        }
        if key == Key::Redraw {
            return Outcome::Redraw;
        }
        if key == Key::Stop {
            return Outcome::Stop;
        }
        self.touched = true;
        if let Some(prompt) = self.prompt.take() {
            self.type_filter(prompt, key);
            return Outcome::Stay;
        }
        if key == Key::Char('q') {
            return Outcome::Quit;
        }
        if key == Key::Char('y') {
            return self.copy();
        }
        self.press(key);
        Outcome::Stay
    }

    fn press(&mut self, key: Key) {
        match key {
            Key::Char(letter) if self.press_letter(letter) => {}
            Key::Tab => self.turn_to(self.tab.next()),
            Key::BackTab => self.turn_to(self.tab.previous()),
            Key::Escape => self.back(),
            Key::Enter => self.open(),
            Key::Char(_)
            | Key::Backspace
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End
            | Key::Redraw
            | Key::Stop
            | Key::Interrupt => self.travel(key),
        }
    }

    /// Handles a letter; `false` if it has no meaning here.
    fn press_letter(&mut self, letter: char) -> bool {
        let is_table = self.is_table();
        match letter {
            '?' => self.read(Reading::Help),
            'i' => self.read(Reading::About),
            'p' => self.toggle_pause(),
            '1'..='5' => self.turn_to(Tab::of_digit(letter).unwrap_or(self.tab)),
            '/' if is_table => self.begin_filter(),
            'f' if is_table => self.filter_on_selected(),
            's' if is_table => self.sort_by_next(),
            'S' if is_table => self.reverse(),
            'r' if is_table => self.arrange(),
            _ => return false,
        }
        true
    }

    /// Moves through the rows, or through the lines of the text over them.
    fn travel(&mut self, key: Key) {
        if !self.is_table() {
            self.scroll.press(key);
            return;
        }
        let from = self.selected(&self.rows_in_sight());
        if let Some(place) = self.table().scroll.target(key, from) {
            self.select(place);
        }
    }

    /// Opens a text, or closes it if it is open.
    fn read(&mut self, reading: Reading) {
        self.reading = if self.reading == Some(reading) { None } else { Some(reading) };
        self.scroll = Scroll::default();
    }

    fn open(&mut self) {
        let Some(key) = self.selected_key().filter(|_| self.is_table()) else { return };
        self.select(self.selected(&self.rows_in_sight()));
        self.opened = Some(key);
        self.scroll = Scroll::default();
    }

    /// Goes one step back: closes the text, otherwise the opened row, otherwise clears the filter.
    fn back(&mut self) {
        self.scroll = Scroll::default();
        if self.reading.take().is_none() && self.opened.take().is_none() {
            self.filter = Filter::default();
        }
    }

    fn sort_by_next(&mut self) {
        let columns = self.tab.columns();
        self.table_mut().order.next_column(columns.len());
        self.arrange();
        self.select(0);
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

    /// Applies the text typed so far as a filter, if it is valid.
    fn type_filter(&mut self, mut prompt: Prompt, key: Key) {
        match key {
            Key::Escape => {
                self.filter = prompt.before;
                return;
            }
            Key::Enter if prompt.problem.is_empty() => return,
            Key::Char(character) => prompt.push(character),
            Key::Backspace => prompt.pop(),
            Key::Enter
            | Key::Tab
            | Key::BackTab
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End
            | Key::Redraw
            | Key::Stop
            | Key::Interrupt => {}
        }
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
        let first = |key: FilterKey| row.facts.iter().find(|(fact, text)| *fact == key && !text.contains(char::is_whitespace));
        let words = [FilterKey::Client, FilterKey::Resource].into_iter().filter_map(first);
        let text: Vec<String> = words.map(|(key, text)| format!("{}:{text}", key.as_str())).collect();
        match Filter::parse(&text.join(" ")) {
            Ok(filter) if !filter.is_empty() => self.filter = filter,
            Ok(_) => "this row has no client and no resource to filter by".clone_into(&mut self.message),
            Err(problem) => self.message = problem,
        }
    }

    /// The selected list or watch as a command, or the reason why there is none.
    fn copy(&mut self) -> Outcome {
        let key = self.opened.clone().or_else(|| self.selected_key()).filter(|_| self.reading.is_none());
        match key.ok_or_else(|| "nothing is selected".to_owned()).and_then(|key| self.command(&key)) {
            Ok(command) => {
                self.message = format!("copied: {command}");
                Outcome::Copy(command)
            }
            Err(because) => {
                self.message = format!("not copied: {because}");
                Outcome::Stay
            }
        }
    }

    fn command(&self, key: &RowKey) -> Result<String, String> {
        let gone = "watchtap no longer has this";
        match key {
            RowKey::Reflector(id) => {
                let row = self.shown.reflectors.iter().find(|row| row.reflector == *id).ok_or(gone)?;
                raw::of_reflector(row, &self.shown)
            }
            RowKey::Request(key) => {
                let row = RequestRow::all(&self.shown).find(|row| row.key() == **key).ok_or(gone)?;
                raw::of_requests(row, &self.shown)
            }
            RowKey::Storm(_) | RowKey::Client(_) | RowKey::Finding(_) => {
                Err("only lists and watches can be repeated: see tabs 1 and 2".to_owned())
            }
        }
    }
}
