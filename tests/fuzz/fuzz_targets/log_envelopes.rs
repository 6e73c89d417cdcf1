//! `cargo xtask fuzz log_envelopes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::log_envelopes::check(data));
