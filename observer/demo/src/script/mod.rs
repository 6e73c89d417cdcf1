//! Scripts: the events of the demo cluster and their times, in a language of lines that `docs/demo.md` describes.

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
