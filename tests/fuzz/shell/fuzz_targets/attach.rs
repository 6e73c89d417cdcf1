//! `cargo xtask fuzz attach`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz_shell::attach::check(data));
