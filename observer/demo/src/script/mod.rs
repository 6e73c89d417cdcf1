//! Parses scripts: the actions in the demo cluster and their times, in the language that `docs/demo.md` describes.

mod act;
mod actor;
mod error;
mod options;
mod parse;
mod reference;
#[cfg(test)]
mod tests;

pub(super) use act::{Act, Repetition, Step};
pub(super) use actor::{Actor, Role};
pub use error::ScriptError;
pub use parse::Script;
pub use reference::reference;
