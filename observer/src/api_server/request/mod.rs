//! Our own requests. `GET /version` shows the rules that a server follows, `GET /metrics` the changes that its administrator made
//! to them. `watchtap verify` sends one request after another on one connection.
//!
//! Each request uses a connection of its own, never a tap, and is in no report. Any user may read `/version`, unless the
//! administrator removed that permission (`ClusterRole` `system:public-info-viewer`). So it is requested without credentials first.
//! Few users may read `/metrics`.

mod ask;
mod conversation;
mod error;
mod question;

pub(crate) use ask::{Conversations, check_answers};
pub(super) use ask::{ask_metrics, ask_version};
pub use conversation::Conversation;
pub use error::QuestionError;
pub use question::{LIMIT, Question};
