//! The command that `watchtap exec` runs: its environment, its signals, its end.

mod command;
mod disposition;
mod environment;
mod origin;
mod session;
mod signals;

pub use command::{Child, SpawnError, exit_code};
pub use environment::variables;
pub(crate) use signals::SignalStream;

#[cfg(test)]
mod tests;
