//! The requests of our own: `GET /version`, which tells the rules that a server follows, and `GET /metrics`, which tells what its
//! administrator changed in them; and what `watchtap verify` asks, one after the other on one connection.
//!
//! Each goes over a connection of its own, never through a tap, and is in no report. `/version` may be read by anybody unless the cluster's
//! administrator took that away (`ClusterRole` `system:public-info-viewer`), so it is asked without credentials first; `/metrics` by few.

mod conversation;
mod request;

pub use conversation::Conversation;
pub use request::{LIMIT, Question, QuestionError};
