//! The wrappings that clouds and container runtimes put around a line of a log.
//!
//! Only the places that are listed here are searched. An object may hold a line in a field of its own, or in one more object below.

mod kind;
mod object;
mod unwrapper;

pub use kind::{Envelope, Wrapping};
pub use unwrapper::{Unwrapped, Unwrapper};
