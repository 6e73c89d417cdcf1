//! The output of `watchtap explain`: for a request, a rule, a proof, a cause of relists, a finding, or lines of logs.

mod layout;
mod section;

mod meaning;
mod request;
mod rule;

mod pasted;

pub use layout::ExplainFormat;
pub use meaning::{Meaning, explain_meaning};
pub use pasted::{ExplainedLine, ExplainedLines, known_forms};
pub use request::{Explained, explain_request};
pub use rule::{explain_proof, explain_rule};
