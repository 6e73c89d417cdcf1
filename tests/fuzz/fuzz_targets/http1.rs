//! `cargo xtask fuzz http1`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::http::check_http1(data));
