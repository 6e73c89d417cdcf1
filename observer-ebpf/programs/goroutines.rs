//! What is kept of goroutines between their calls. The stack of one may move and its thread may change while it waits; it itself stays.

/// A goroutine.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Goroutine {
    pub(crate) process: u64,
    /// Of its `runtime.g`.
    pub(crate) address: u64,
}

/// The arguments of `(*Conn).Read`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ReadCall {
    pub(crate) connection: u64,
    pub(crate) buffer: u64,
    pub(crate) length: u64,
}

/// What a goroutine reads, or read last: what it decodes then was in it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Reading {
    pub(crate) call: ReadCall,
    pub(crate) is_over: u32,
    /// Header fields that were decoded since.
    pub(crate) fields: u32,
}

/// The header block that a goroutine encodes.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Encoding {
    /// The connection that it will be written to, by its address.
    pub(crate) connection: u64,
    /// Fields that were encoded so far.
    pub(crate) fields: u32,
    pub(crate) reserved: u32,
}
