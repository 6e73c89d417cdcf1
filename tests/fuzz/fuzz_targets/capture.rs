//! `cargo xtask fuzz capture`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::capture::check(data));
