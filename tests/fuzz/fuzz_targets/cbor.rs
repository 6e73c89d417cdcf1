//! `cargo xtask fuzz cbor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::cbor::check(data));
