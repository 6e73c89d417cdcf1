//! `watchtap run` during churn: its clients are a kube-rs controller and `kubectl`, while another client changes objects.

mod churn;
mod visitors;
mod writer;
