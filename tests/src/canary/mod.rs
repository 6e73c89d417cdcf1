//! Searches outputs for secrets, in any encoding that a program could use to print or store them.

mod compressed;
mod encoding;
mod huffman;
mod places;
mod search;

#[cfg(test)]
mod tests;

pub use encoding::Encoding;
pub use huffman::huffman;
pub use places::{Places, Private};
pub use search::{Canary, Hit, Search};
