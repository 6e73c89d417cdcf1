//! The command line: one file per subcommand.

mod cli;

mod completions;
mod credential;
mod demo;
mod descriptor_limit;
mod ends;
mod exec;
mod explain;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe;
mod read;
mod run;
mod verify;

#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod api_servers;
mod budget_flags;
mod byte_size;
mod capture_flags;
mod coverage;
mod follow;
mod listen_port;
mod logging;
mod output;
mod panic_message;
mod plugin_users;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe_check;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe_flags;
mod profile_flags;
mod profiles;
mod progress_line;
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
