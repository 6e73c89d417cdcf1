//! Finds the processes that a probe records, and the files whose code they run.

mod cgroup;
mod connected_sockets;
mod container_name;
mod containers;
mod excluded;
mod installed;
mod libraries;
mod listeners;
pub(super) mod namespace;
mod older_connections;
mod opened_file;
mod pod_log_folder;
mod pod_logs;
mod process_name;
mod program_file;
mod program_files;
mod selection;
mod start_time;

pub(super) use connected_sockets::{ConnectedSockets, is_connected};
pub(super) use containers::Containers;
pub(super) use excluded::ExcludedFiles;
pub(super) use installed::installed_libraries;
pub(super) use libraries::Libraries;
pub(crate) use listeners::is_any_listened_on;
pub(super) use older_connections::OlderConnections;
pub(super) use opened_file::OpenedFile;
pub(super) use process_name::process_name;
pub(super) use program_file::{FileIdentity, ProgramFile};
pub(super) use program_files::program_files;
pub(super) use selection::Selection;
pub(super) use start_time::{started, ticks_now};
