//! The output of `watchtap explain`: for a request, a rule, a proof, a cause of relists, or a finding.

mod layout;
mod section;

mod meaning;
mod request;
mod rule;

pub use layout::ExplainFormat;
pub use meaning::{Meaning, explain_meaning};
pub use request::{Explained, explain_request};
pub use rule::{explain_proof, explain_rule};
