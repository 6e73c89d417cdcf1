//! HPACK (RFC 7541), read with a table that holds no secret.
//!
//! The dynamic table has the size accounting of §4.1. But of a field off the allow-list it keeps only the lengths, and of
//! `authorization` only the derived identity. Decoding may begin in the middle of a connection: an index from before that time
//! gives *unknown*.
//!
//! The module is public, though hidden, so that tests outside this crate can compare it with other implementations field by field.

mod compression_error;
mod decoder;
mod field_line;
mod huffman;
mod integer;
mod static_table;
mod table;
mod text;
mod trace;

pub use compression_error::CompressionError;
pub use decoder::Decoder;
pub use field_line::{FieldLine, Name, Value};
pub use huffman::LENGTHS as CODE_LENGTHS;
pub(super) use table::INITIAL_SIZE;
pub(super) use trace::Trace;

#[cfg(test)]
mod tests;
