//! The page as people see it: stories of traffic in, screens of text out.

mod bindings;
mod columns;
mod command;
mod details;
mod edges;
mod keys;
mod mouse;
mod outage;
mod reading;
mod readme;
pub(in crate::view) mod screen;
pub(in crate::view) mod script;
mod small;
pub(in crate::view) mod stories;
mod tables;
