//! `cargo xtask fuzz logs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::logs::check(data));
