//! The line with the names of the tables.

use super::cells::width;
use super::line::Line;
use super::spots::Target;
use super::state::Page;
use super::tab::Tab;
use crate::view::colour::Tone;
use crate::view::quantity::count;

/// The form of the labels. Each form is shorter than the form before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Names with the numbers of rows.
    Complete,
    /// The number of rows of the current table only.
    OneNumber,
    /// The same, with short names.
    Short,
}

impl Page {
    /// The names of the tables, with the current one in brackets, for line `y`.
    pub(super) fn tabs(&self, y: u16, cells: usize) -> Line {
        let has_findings = !self.shown.findings.is_empty();
        let mut begin = 0;
        self.labels(cells).into_iter().fold(Line::default(), |line, (tab, label)| {
            let end = begin + u16::try_from(width(&label)).unwrap_or(0);
            self.spots.add(y, begin..end, Target::Tab(tab));
            begin = end;
            let tone = match tab {
                _ if tab == self.tab => Tone::Heading,
                Tab::Findings if has_findings => Tone::Notable,
                Tab::Reflectors | Tab::Requests | Tab::Storms | Tab::Clients | Tab::Findings => Tone::Plain,
            };
            line.and(tone, &label)
        })
    }

    /// The label of each table, in the longest form that fits into `cells`.
    fn labels(&self, cells: usize) -> Vec<(Tab, String)> {
        let labels = |form| Tab::ALL.map(|tab| (tab, self.label(tab, form))).to_vec();
        let fits = |labels: &Vec<(Tab, String)>| labels.iter().map(|(_, label)| width(label)).sum::<usize>() <= cells;
        [Form::Complete, Form::OneNumber].into_iter().map(labels).find(fits).unwrap_or_else(|| labels(Form::Short))
    }

    fn label(&self, tab: Tab, form: Form) -> String {
        let is_current = tab == self.tab;
        let name = if form == Form::Short { tab.short_name() } else { tab.name() };
        let name = format!("{} {name}", tab.place() + 1);
        let has_number = is_current || form == Form::Complete;
        let name = if has_number { format!("{name}({})", count(tab.number(&self.shown) as u64)) } else { name };
        if is_current { format!("[{name}]") } else { format!(" {name} ") }
    }
}
