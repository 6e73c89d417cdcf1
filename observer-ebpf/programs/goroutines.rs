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

/// What a goroutine reads, or read last. What it decodes then need not have been in it: the memory of a goroutine that has ended is used for another.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Reading {
    pub(crate) call: ReadCall,
    pub(crate) is_over: u32,
    /// Header fields that were decoded since.
    pub(crate) fields: u32,
}

/// The header block that a goroutine encodes, or has left without a return that was seen.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Encoding {
    /// The `ClientConn` of HTTP/2.
    pub(crate) client: u64,
    /// The connection that it will be written to, by its address.
    pub(crate) connection: u64,
    /// Fields that were encoded so far.
    pub(crate) fields: u32,
    pub(crate) reserved: u32,
}
