//! `cargo xtask fuzz observer`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::observer::check(data));
