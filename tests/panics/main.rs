//! Panics in the observing half, injected where a request asks for them: the traffic goes on byte for byte, and what is not observed is said.
//!
//! They come from a program that no release build can be (`observer/src/injected_fault.rs`).

#[cfg(test)]
mod injected;
#[cfg(test)]
mod page;
