//! `cargo xtask fuzz protobuf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz::protobuf::check(data));
