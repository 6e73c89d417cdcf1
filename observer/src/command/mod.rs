//! The command line: one file a subcommand.

mod cli;

mod completions;
mod exec;
mod explain;
mod read;

mod capture_flags;
mod output;
mod profile_flags;
mod upstream;

pub use cli::main;
