//! Proofs of the layer that gave an answer.
//!
//! A verdict is predicted from the request. The answer may confirm or contradict it, or decide what the request left open.
//! [`weigh`] checks a verdict against the [`Evidence`] of an answer, with the [`Proof`]s of the catalogue. Most answers prove
//! nothing: a cached list and one from etcd look alike.

mod proof;
mod seen;

mod finding;

mod list;
mod recorded;
mod refusal;
mod watch;

mod lesson;
mod weigh;

#[cfg(test)]
mod tests;

pub use lesson::lesson;
pub use proof::{Proof, ProofId, all_proofs, proof};
pub use recorded::RecordedRead;
pub use seen::{Evidence, ListSeen};
pub use weigh::weigh;
