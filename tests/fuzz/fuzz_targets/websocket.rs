//! `cargo xtask fuzz websocket`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::websocket::check(data));
