//! A run and the replay of its capture end in the same state, however the file's bytes are split. An incomplete capture gives fewer
//! facts, never wrong ones, and reports the missing spans. The series of a run are the same in its replay.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

mod damage;
mod equality;
mod kinds;
mod observations;
mod parts;
mod restated;
mod rig;
mod series;
mod series_scripts;
mod series_sums;
