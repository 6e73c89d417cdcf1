//! Scripts: what happens to the demo cluster, and when; a language of lines, described in `docs/demo.md`.

mod act;
mod actor;
mod error;
mod options;
mod parse;
mod reference;
#[cfg(test)]
mod tests;

pub(super) use act::{Act, Step};
pub(super) use actor::{Actor, Role};
pub use error::ScriptError;
pub use parse::Script;
pub use reference::reference;
