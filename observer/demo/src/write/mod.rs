//! Creation, replacement, patching and deletion of objects.

mod apply;
mod create;
mod delete;
mod incoming;
mod scale;
mod target;
mod update;

pub(super) use apply::{Applied, apply};
pub(super) use create::create;
pub(super) use delete::{Deleted, delete, delete_collection};
pub(super) use incoming::LARGEST_BODY;
pub(super) use scale::{change_scale, replace_scale};
pub(super) use target::{Part, Target};
pub(super) use update::{patch, update};
