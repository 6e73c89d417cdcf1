//! The document `/THIRD-PARTY-LICENSES`: the licences of everything that is linked into the program, as they require it beside it.

mod document;

mod declared;
mod found;
mod html;

pub(super) use document::document;
