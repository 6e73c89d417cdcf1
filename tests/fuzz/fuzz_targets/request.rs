//! `cargo xtask fuzz request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::request::check(data));
