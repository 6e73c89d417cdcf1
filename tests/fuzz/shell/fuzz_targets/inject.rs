//! `cargo xtask fuzz inject`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz_shell::inject::check(data));
