//! The rules that verdicts name. Each has a stable identifier, a sentence, its place in docs/semantics.md, its upstream source, and
//! the reads from etcd that it causes.
//!
//! The rows of `tables` decide when each rule applies.

mod rule;

mod elsewhere;
mod get;
mod list;
mod refused;
mod unknown;
mod watch;

mod catalogue;

pub use catalogue::{all_rules, rule};
pub use elsewhere::*;
pub use get::*;
pub use list::*;
pub use refused::*;
pub use rule::{ReadsOf, Rule, RuleId};
pub use unknown::*;
pub use watch::*;
