//! Canaries: a distinct secret is put into every possible input, and none may appear in any output except the client's kubeconfig.
//!
//! [`secrets`] defines them, and [`traffic`] sends them through watchtap. [`commands`] runs every command and searches its outputs;
//! [`exported`] searches records of `--otlp`; [`debug_output`] searches the `Debug` output of the core's types, of which [`log_lines`] has
//! those of logs. [`coverage`] checks that nothing is left out.

mod bodies;
mod commands;
mod core_types;
mod coverage;
mod debug_output;
mod exported;
mod followed;
mod given;
mod http1;
mod http2;
mod log_lines;
mod malformed;
mod outputs;
mod runs;
mod secrets;
mod traffic;
