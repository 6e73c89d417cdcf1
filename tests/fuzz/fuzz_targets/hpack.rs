//! `cargo xtask fuzz hpack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::hpack::check(data));
