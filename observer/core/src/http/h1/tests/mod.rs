//! Tests of the complete decoder: scripts of calls in, events as text out.

mod canary;
mod exchanges;
mod losses;
mod middle;
mod properties;
mod script;
mod upgrades;
