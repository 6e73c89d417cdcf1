//! Edits text so that a tree changes: new items, new values of scalars, removed items. All other bytes stay.

mod insert;
mod json_text;
mod lines;
mod remove;
mod replace;
mod splice;
mod style;
mod walk;
mod yaml_text;

pub(super) use insert::{Created, created, insert};
pub(super) use lines::line_break;
pub(super) use remove::Removals;
pub(super) use replace::{one_scalar, replace, restore, written};
pub(super) use splice::{Edit, splice};
pub(super) use style::Style;
pub(super) use walk::{Obstacle, Pod, obstacle};
