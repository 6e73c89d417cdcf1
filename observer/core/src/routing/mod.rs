//! Decides which layer of kube-apiserver answers a list, get or watch: watch cache, snapshot or etcd.
//!
//! Tables of data decide, so that they can be compared with docs/semantics.md. [`rules`] have the reasons, `tables` the conditions,
//! and [`Gate`] the defaults of each version. [`route`] sorts a request into the classes of the tables' columns and looks it up.
//! Where a fact is unknown, it looks up every possibility. If the results differ, it returns [`ServedFrom::Unknown`] with the
//! layers that remain.

mod etcd_support;
mod gates;
mod version;

mod profile;

mod event_window;
mod from_metrics;

mod history;

mod keys;

mod columns;
mod facts;
mod tables;

pub mod rules;

mod etcd_read;
mod etcd_write;
mod served_from;
mod verdict;

mod evidence;
mod explain;
mod ignored;
mod route;
mod router;

#[cfg(test)]
mod tests;

pub use etcd_read::{EtcdOperation, EtcdRead, Purpose, RevisionAt};
pub(crate) use etcd_read::{cached_key, listed_prefix};
pub use etcd_support::{EtcdSupport, EtcdVersion, InvalidEtcdVersion};
pub use etcd_write::{EtcdWrite, etcd_writes};
pub use event_window::EventWindow;
pub use evidence::{Evidence, ListSeen, Proof, ProofId, RecordedRead, all_proofs, lesson, proof, weigh};
pub use explain::{VersionSpan, across_versions, cheaper};
pub use from_metrics::FromMetrics;
pub use gates::{Gate, GateStage, GateState, UnknownGate};
pub use history::{Coverage, RevisionHistory, SURELY_COMPACTED, SURELY_HELD};
pub use ignored::{IgnoredParameter, ignored_parameters};
pub(crate) use keys::cached_key_of;
pub use keys::{is_in_main_etcd, resource_prefix};
pub use profile::{Basis, Provenance, ServerProfile};
pub use route::{attached_late, route};
pub use router::Router;
pub use rules::{ReadsOf, Rule, RuleId, all_rules, rule};
pub use served_from::{Certainty, Fallback, Layer, Otherwise, ServedFrom, UnknownReason};
pub use verdict::{Alternative, CacheState, Question, Verdict};
pub use version::{InvalidVersion, Release, ServerVersion, Versions};
