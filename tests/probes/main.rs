//! Checks the probe points in real programs against their symbols and another disassembler.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may unwrap")]

mod disassembly;
mod go_offsets;
mod hostile_files;
mod openssl_offsets;
mod program;
mod program_size;
mod unprobed;
