//! The command line: one file a subcommand.

mod cli;

mod completions;
mod credential;
mod demo;
mod descriptor_limit;
mod ends;
mod exec;
mod explain;
mod read;
mod run;
mod verify;

mod budget_flags;
mod capture_flags;
mod coverage;
mod follow;
mod listen_port;
mod logging;
mod output;
mod panic_message;
mod plugin_users;
mod profile_flags;
mod profiles;
mod recording;
mod report_flags;
mod same_file;
mod session;
mod shown;
mod tap_set;
mod upstream;
mod upstream_flags;

pub use cli::{command_line, main};

#[cfg(test)]
mod tests;
