//! The chart on a node: sidecars by a label, and a cluster without a trace of it afterwards.

pub(crate) mod commands;
mod guide;
pub(crate) mod installed;
mod rollout;
