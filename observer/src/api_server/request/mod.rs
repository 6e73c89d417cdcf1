//! watchtap's own requests to an API server. `GET /version` determines the rules that a server follows. `GET /metrics` shows the
//! feature gates and watch caches that its administrator changed. `watchtap verify` sends its requests one after another on one
//! connection. `watchtap webhook` reads and writes two objects.
//!
//! These requests use connections of their own, which pass through no tap, so they are in no report. Any user may read `/version`,
//! unless the administrator removed that permission (`ClusterRole` `system:public-info-viewer`). So it is requested without
//! credentials first. Few users may read `/metrics`.

mod ask;
mod conversation;
mod error;
mod question;

pub(crate) use ask::{Conversations, check_answers};
pub(super) use ask::{ask_metrics, ask_version};
pub use conversation::{Answer, Conversation};
pub use error::QuestionError;
pub use question::{LIMIT, Question};
