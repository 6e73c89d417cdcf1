//! The command line: one file a subcommand.

mod cli;

mod completions;
mod exec;
mod explain;

mod coverage;
mod listen_port;
mod output;
mod profile_flags;
mod profiles;
mod tap_set;
mod upstream;
mod upstream_flags;

pub use cli::main;

#[cfg(test)]
mod tests;
