//! Finds the processes that a probe records, and the files whose code they run.

mod cgroup;
mod containers;
mod installed;
mod late;
mod libraries;
mod listeners;
pub(super) mod namespace;
mod never;
mod opened_file;
mod program_file;
mod program_files;
mod selection;

pub(super) use containers::Containers;
pub(super) use installed::installed_libraries;
pub(super) use late::{LateProcesses, began, now};
pub(super) use libraries::Libraries;
pub(super) use listeners::is_any_listened_on;
pub(super) use never::NeverProbed;
pub(super) use opened_file::OpenedFile;
pub(super) use program_file::{FileIdentity, ProgramFile};
pub(super) use program_files::program_files;
pub(super) use selection::Selection;
