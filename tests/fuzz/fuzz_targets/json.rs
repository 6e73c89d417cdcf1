//! `cargo xtask fuzz json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::json::check(data));
