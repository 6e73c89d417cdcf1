//! Captures on disk: the files around the bytes of [`observer_core::capture`].

mod file;
mod reading;

#[cfg(test)]
mod tests;

pub(crate) use file::numbered;
pub use file::{Bounds, CaptureFile};
pub use reading::{Pace, ReadError, Recording};
