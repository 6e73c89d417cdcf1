//! `cargo xtask fuzz intake`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz_shell::intake::check(data));
