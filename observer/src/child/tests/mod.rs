//! Tests of `child`. Those in `command` and `signals` start processes.

mod command;
mod environment;
mod signals;
mod supervised;
