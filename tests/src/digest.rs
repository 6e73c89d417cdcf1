//! Length and hash of the bytes in one direction of a connection, in forty bytes.

use std::fmt::{self, Write as _};
use std::io;

use aws_lc_rs::digest::{Context, SHA256};

/// Length and SHA-256 of bytes. Equal digests mean equal bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest {
    /// Number of bytes.
    pub length: u64,
    /// Their SHA-256.
    pub sha256: Vec<u8>,
}

impl Digest {
    /// Hashes `bytes` in one call.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The SHA-256 in hexadecimal digits.
    pub fn hexadecimal(&self) -> String {
        let mut digits = String::new();
        for byte in &self.sha256 {
            // Writing to text cannot fail.
            write!(digits, "{byte:02x}").ok();
        }
        digits
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 6;
        write!(formatter, "{} bytes, ", self.length)?;
        self.sha256.iter().take(SHOWN).try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// Hashes bytes in any number of pieces.
pub struct Hasher {
    length: u64,
    context: Context,
}

impl Hasher {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Self { length: 0, context: Context::new(&SHA256) }
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.context.update(bytes);
    }

    /// Length and hash of all bytes so far.
    pub fn finish(self) -> Digest {
        Digest { length: self.length, sha256: self.context.finish().as_ref().to_vec() }
    }
}

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Default for Hasher {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hasher({} bytes)", self.length)
    }
}
