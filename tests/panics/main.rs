//! Panics in the observing half, injected where a request asks for them: traffic continues byte for byte, and the report states
//! what was not observed.
//!
//! They need a program that no release build contains (`observer/src/injected_fault.rs`).

#[cfg(test)]
mod injected;
#[cfg(test)]
mod page;
