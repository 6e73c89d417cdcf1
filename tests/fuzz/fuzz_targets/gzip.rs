//! `cargo xtask fuzz gzip`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::gzip::check(data));
