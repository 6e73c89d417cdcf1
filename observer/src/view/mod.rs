//! Views: an [`observer_core::observer::Snapshot`] or an event in, text or JSON out. They compute nothing of their own.

mod colour;
mod discovery;
mod events;
mod explain;
mod json;
mod lines;
mod quantity;
mod report;
mod run;
mod sink;
mod table;
mod verdict;

#[cfg(test)]
mod tests;

pub use colour::Colour;
pub use events::EventLines;
pub use explain::{ExplainFormat, Explained, explain_request, explain_rule};
pub use json::{EVENTS_SCHEMA, EXPLAIN_SCHEMA, REPORT_SCHEMA, report_json};
pub use lines::LiveLines;
pub use report::report_text;
pub use run::Run;
pub use sink::EventSink;
