//! The state that is kept of goroutines between their calls. While a goroutine waits, its stack may move and its thread may change,
//! but its own address stays.

/// The key of a goroutine.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Goroutine {
    pub(crate) process: u64,
    /// Address of its `runtime.g`.
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

/// The current or last read of a goroutine. Fields decoded later by a goroutine at this address need not come from this read:
/// another goroutine may get the memory of one that has ended.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Reading {
    pub(crate) call: ReadCall,
    /// Address of its `runtime.g`. It differs from the key's if the map has given the memory of this value to another goroutine meanwhile.
    pub(crate) goroutine: u64,
    pub(crate) is_over: u32,
    /// Number of header fields decoded since this read.
    pub(crate) fields: u32,
}

/// The header block that a goroutine encodes, or has left by a return that was not seen.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Encoding {
    /// Address of the `ClientConn` of HTTP/2.
    pub(crate) client: u64,
    /// Address of the connection that the block will be written to.
    pub(crate) connection: u64,
    /// Number of fields encoded so far.
    pub(crate) fields: u32,
    pub(crate) reserved: u32,
}
