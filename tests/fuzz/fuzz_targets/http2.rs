//! `cargo xtask fuzz http2`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::http::check_http2(data));
