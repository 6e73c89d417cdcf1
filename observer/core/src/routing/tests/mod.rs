//! Tests of complete verdicts. `observer/core/tests/oracle.rs` has an oracle for each table.

pub(super) mod asking;
mod explain;
mod reads;
mod router;
mod totality;
mod unknown;
