//! `cargo xtask fuzz admission`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz_shell::admission::check(data));
