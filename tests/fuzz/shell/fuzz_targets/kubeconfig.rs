//! `cargo xtask fuzz kubeconfig`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| observer_fuzz_shell::kubeconfig::check(data));
