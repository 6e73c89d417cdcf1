//! `watchtap run` in the middle of churn: a controller of kube-rs and `kubectl` behind it, while somebody else changes objects.

mod churn;
mod visitors;
mod writer;
