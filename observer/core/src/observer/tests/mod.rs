//! Tests of the complete Observer.

mod comparison;
mod etcd_reads;
mod late;
mod logs;
mod scopes;
mod script;
mod unrecorded;
mod versions;
