//! Injected panics in the observing threads: traffic continues byte for byte, and the report states the part that was not observed.
//!
//! These tests need a build of watchtap with injected faults, which no release build has (`observer/src/injected_fault.rs`).

#[cfg(test)]
mod injected;
#[cfg(test)]
mod page;
