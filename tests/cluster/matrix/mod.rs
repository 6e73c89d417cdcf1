//! The matrix: what watchtap says of each shape of request, held against what the servers' own counters say, for six minors and the
//! configurations that change the answer.
//!
//! [`rows`] are what is asked, [`configuration`] how the servers run, [`session`] asks through a tap and reads the counters past it,
//! [`measured`] says from them alone who answered, [`judgement`] holds the tap's verdict against that. Four situations have to be brought
//! about: [`not_ready`], [`late`], [`compaction`], [`aggregated`]. What came of it goes into `target/cluster/accuracy`, one file a minor, and
//! `cargo xtask test --cluster all` makes `docs/accuracy.md` of them.

mod row;
mod rows;

mod ground;
mod resource;

mod configuration;

mod asked;
mod measured;
mod session;

mod aggregated;
mod compaction;
mod late;
mod not_ready;

mod rules;

mod judgement;
mod results;

mod minors;
