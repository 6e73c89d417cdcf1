//! Views turn an [`observer_core::observer::Snapshot`] or an event into text, JSON or Markdown. They compute nothing of their own.

mod answer;
mod budget;
mod changes;
mod client;
mod client_table;
mod colour;
mod comparison;
mod comparison_markdown;
mod coverage;
mod discovery;
mod etcd;
mod events;
mod explain;
mod faults;
mod following;
mod injection_report;
mod inventory;
mod json;
mod lines;
mod live_line;
mod log;
mod markdown;
mod missed;
mod moment;
mod note;
mod page;
mod probe_check_report;
mod problems;
mod quantity;
mod report;
mod report_markdown;
mod run;
mod table;
mod verdict;
mod verification;

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;

pub use colour::Colour;
pub use comparison::comparison_text;
pub use comparison_markdown::comparison_markdown;
pub use coverage::STATUS_SCHEMA;
pub(crate) use coverage::{coverage_json, coverage_text};
pub use events::EventLines;
pub use explain::{ExplainFormat, Explained, Meaning, explain_meaning, explain_proof, explain_request, explain_rule};
pub use explain::{ExplainedLine, ExplainedLines, known_forms};
pub use injection_report::INJECTION_SCHEMA;
pub(crate) use injection_report::{InjectedFile, injection_json, injection_text};
pub use json::{COMPARISON_SCHEMA, EVENTS_SCHEMA, EXPLAIN_SCHEMA, REPORT_SCHEMA, comparison_json, report_json};
pub use lines::{LineChoice, LiveLines};
pub use live_line::live_line;
pub use log::RunLog;
pub(crate) use log::{log_lines, log_notes, recognised_lines};
pub use page::{CommandEnd, Key, Mouse, NoteFile, Outcome, Page};
pub use probe_check_report::{PROBE_CHECK_SCHEMA, probe_check_json, probe_check_lines, probe_check_text, probe_obstacle};
pub(crate) use quantity::{count, counted, length};
pub use report::report_text;
pub use report_markdown::report_markdown;
pub use run::{BudgetKept, Run};
pub use verification::{VERIFY_SCHEMA, verification_json, verification_text};

pub use crate::printable::{Printable, Printer};
