//! Bodies in JSON, as streams.
//!
//! A parser reads the values at the few interesting places of a body (`meaning::value_path`). It skips everything else, 64 bytes at
//! a time, without keeping it. Strings that are kept are unescaped and cut.

mod syntax;

mod parser;
mod resync;

mod block;
mod nesting;
mod text;

pub(super) use syntax::Json;
pub(crate) use text::stop as string_stop;
