//! The matrix: watchtap's verdict on each shape of request, compared with the servers' own counters, for six minors and the
//! configurations that change the answer.
//!
//! [`rows`] has the requests and [`configuration`] the servers' flags. [`session`] sends requests through a tap and reads the
//! counters directly. [`measured`] derives the layer from the counters alone, and [`judgement`] compares the tap's verdict with it.
//! Four situations must be provoked: [`not_ready`], [`late`], [`compaction`], [`aggregated`]. The results are in
//! `target/cluster/accuracy`, one file per minor; `cargo xtask test --cluster all` generates `docs/accuracy.md` from them.

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
