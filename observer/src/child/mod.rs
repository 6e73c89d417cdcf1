//! The command that `watchtap exec` runs: its environment, signal forwarding, and its exit code.

mod command;
mod environment;
mod origin;

pub(crate) use command::{Asker, Streams};
pub use command::{Child, SpawnError, exit_code};
pub use environment::variables;

#[cfg(test)]
mod tests;
