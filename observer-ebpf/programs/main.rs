//! The eBPF programs of watchtap: they record the plaintext of TLS connections in the memory of processes, and events in the
//! lifetimes of processes and sockets.
//!
//! They run where a process calls its TLS library, so they are short. [`admission`] decides whether the process is recorded.
//! [`connections`] counts the call on its connection. [`sockets`] decides by its socket whether it leads to an API server.
//! [`records`] copies the bytes into the ring buffer. User space decodes them. [`registers`] is all that depends
//! on the architecture of the machine.
#![no_std]
#![no_main]
#![feature(asm_experimental_arch)]
#![allow(unsafe_code, reason = "maps, contexts and helpers of the kernel are raw pointers, which its verifier checks at load")]

mod admission;
mod atomics;
mod calls;
mod connections;
mod go;
mod goroutines;
mod header_blocks;
mod kernel;
mod lifetimes;
mod maps;
mod memory;
mod openssl;
mod records;
mod registers;
mod sockets;
mod ssl_threads;
mod thread_calls;
mod thread_sockets;
mod thread_stack;
mod wakeups;

/// The kernel offers some helpers (`bpf_probe_read_user`) only to programs with a licence that is compatible with the GPL.
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

/// Unreachable: the verifier rejects programs that could reach it.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
