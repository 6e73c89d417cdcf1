//! The command that `watchtap exec` runs: its environment, the signals forwarded to it, its end.

mod command;
mod environment;
mod origin;
mod session;

pub use command::{Child, SpawnError, exit_code};
pub use environment::variables;

#[cfg(test)]
mod tests;
