//! `cargo +nightly fuzz run wire seeds/wire` in `tests/fuzz`.
#![no_main]

#[path = "../src/wire_invariants.rs"]
mod wire_invariants;

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire_invariants::check(data));
