//! `cargo xtask fuzz metrics`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::metrics::check(data));
