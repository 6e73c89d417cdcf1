//! Tests of this folder, with real files in a folder of their own.

mod bad_entries;
mod bad_files;
mod client_copy;
mod fixture;
mod loading;
mod meaning;
mod pairs;
mod run_folder;
