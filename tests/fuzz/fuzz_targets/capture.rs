//! `cargo +nightly fuzz run capture seeds/capture` in `tests/fuzz`.
#![no_main]

#[path = "../src/capture_invariants.rs"]
mod capture_invariants;

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture_invariants::check(data));
