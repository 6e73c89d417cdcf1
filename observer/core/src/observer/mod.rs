//! The owner of all state: observations in, [`Event`]s and a plain [`Snapshot`] out.
//!
//! All tables are bounded ([`Limits`]), and [`Missed`] counts the data that they discard. Views read only events and snapshots.

mod alike;
mod blockage;
mod budget;
mod client_ends;
mod comparison;
mod connection;
mod derived;
mod etcd_load;
mod event;
mod faults;
mod finding;
mod finish;
mod following;
mod history;
mod inventory;
mod limits;
mod missed;
mod missing;
mod observe;
mod open_memory;
mod outages;
mod recent;
mod record;
mod records;
mod rows;
mod samples;
mod scopes;
mod server_ends;
mod server_errors;
mod server_facts;
mod snapshot;
mod tables;
mod totals;
mod upstreams;

#[cfg(test)]
mod tests;

pub use crate::finding_kind::FindingKind;
pub use budget::{Allowance, Budget, Excess, Limited, Quantity, Usage};
pub use comparison::{
    Change, ComparedFinding, ComparedMeasure, ComparedRelists, ComparedRun, Comparison, ComparisonRow, FindingSide, Layer, Measure,
    Side,
};
pub use etcd_load::{EtcdLoad, EtcdReads};
pub use event::Event;
pub use faults::{FaultRecord, FaultResponse, Faults};
pub use finding::{AmountUnit, Exposed, Exposure, Finding, Problem, advice_by_cause, advice_on_relists};
pub use inventory::Inventory;
pub use limits::Limits;
pub use missed::{Missed, Unrecorded};
pub use observe::Observer;
pub use outages::{Outage, Outages};
pub use record::{RequestRecord, VerdictRecord};
pub use rows::{ListRow, OtherRow, WatchRow};
pub use snapshot::{Rates, Snapshot, Totals};
pub use upstreams::UpstreamRecord;
