//! Tests of `kubeconfig`. They use real files in temporary folders.

mod bad_entries;
mod bad_files;
mod client_copy;
mod fixture;
mod loading;
mod meaning;
mod pairs;
mod run_folder;
