//! Where the probes go in real programs, against their symbols and another disassembler.

mod disassembly;
mod go_offsets;
mod hostile_files;
mod live;
mod openssl_offsets;
mod program;
mod program_size;
