//! Tests of the verdict as a whole. Each table has its oracle in `observer/core/tests/oracle.rs`.

pub(super) mod asking;
mod explain;
mod reads;
mod totality;
mod unknown;
