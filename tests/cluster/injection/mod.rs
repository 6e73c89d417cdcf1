//! `watchtap inject` and `uninject` from outside: manifests of real projects, and input that is hostile or odd.

mod admission;
mod bad_input;
mod corpus;
mod edited;
mod invocation;
mod limits;
mod line_difference;
mod odd_styles;
mod oracle;
mod policy;
mod real_manifests;
mod restricted;
mod round_trip;
mod webhook;
mod workload;
