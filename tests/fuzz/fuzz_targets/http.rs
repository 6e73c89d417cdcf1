//! `cargo +nightly fuzz run http seeds/http` in `tests/fuzz`.
#![no_main]

#[path = "../src/http_invariants.rs"]
mod http_invariants;

libfuzzer_sys::fuzz_target!(|data: &[u8]| http_invariants::check(data));
