//! The programs of watchtap that run in the kernel: plaintext of TLS connections, where processes have it in their own memory, and the beginnings
//! and ends of processes and sockets.
//!
//! They run where a process calls its TLS library, so they are short: the process is let through or not ([`admission`]), the call is
//! counted on its connection ([`connections`]), whose socket says whether it leads to an API server ([`sockets`]), and its bytes go straight into the
//! ring buffer ([`records`]). What follows from the bytes
//! is for user space. Registers and stacks are those of x86-64.
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
mod sockets;
mod thread_calls;
mod thread_sockets;

/// The kernel gives some helpers (`bpf_probe_read_user`) only to programs whose licence is compatible with the GPL.
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";

/// Never reached: the verifier takes no program that could.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
