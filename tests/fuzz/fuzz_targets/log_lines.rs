//! `cargo xtask fuzz log_lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::log_lines::check(data));
