//! The command line: flags and output; one file per subcommand.

mod command_line;
mod flags;

mod attach;
mod attach_list;
mod completions;
mod credential;
#[cfg_attr(not(feature = "demo"), path = "no_demo.rs")]
mod demo;
#[cfg(feature = "demo")]
mod demo_objects;
mod exec;
#[cfg_attr(not(feature = "demo"), path = "no_exec_demo.rs")]
mod exec_demo;
mod exec_page;
mod explain;
mod injection;
mod kubectl_completion;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod node_check;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe;
#[cfg(all(target_os = "linux", feature = "ebpf"))]
mod probe_check;
mod read;
mod read_beside;
mod read_follow;
mod read_logs;
mod run;
mod status;
mod verify;
mod webhook;

mod available_memory;
mod follow;
mod guidance;
mod logging;
mod nearest;
mod output;
mod panic_message;
mod place;
mod plugin_words;
mod progress_line;
mod recording;
mod same_file;
mod shown;

pub use command_line::{command_line, main};

#[cfg(test)]
mod tests;
