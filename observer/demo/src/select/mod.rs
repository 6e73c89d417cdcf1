//! Label and field selectors.

mod fields;
mod labels;
mod selection;
#[cfg(test)]
mod tests;

pub(crate) use fields::FieldSelector;
pub(crate) use labels::LabelSelector;
pub(crate) use selection::Selection;
