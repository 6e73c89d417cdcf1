//! Tests of this folder: `command` and `signals` start processes.

mod command;
mod environment;
mod signals;
mod supervised;
