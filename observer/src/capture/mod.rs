//! Captures on disk: writes the format of [`observer_core::capture`] to rotated files, and replays such files.

mod file;
mod reading;

#[cfg(test)]
mod tests;

pub(crate) use file::numbered;
pub use file::{Bounds, CaptureFile};
pub use reading::{Due, Pace, ReadError, Recording};
