//! Bodies in JSON, as streams.
//!
//! A parser reads the values at the few interesting places of a body (`meaning::value_path`). It skips everything else, 64 bytes at
//! a time, without keeping it. Strings that are kept are unescaped and cut.

mod syntax;

mod parser;
mod resync;

mod block;
mod nesting;
mod string_stops;
mod text;

pub(crate) use nesting::nested_end;
pub(crate) use string_stops::StringStops;
pub(super) use syntax::Json;
