//! Tests of the Observer as a whole.

mod comparison;
mod etcd_reads;
mod late;
mod scopes;
mod script;
mod unrecorded;
mod versions;
