//! The layout of the ring record that watchtap's eBPF probes write and its user space reads.
//!
//! Nothing is here yet: in this version watchtap has one tap, the proxy. What will come is one `#[repr(C)]` header (process,
//! connection, direction, sequence number, time, length, bytes left out) that both sides share, and, as a binary for the BPF target
//! only, the probes themselves. This crate stays `no_std` and without dependencies on the product for that reason.
#![no_std]
