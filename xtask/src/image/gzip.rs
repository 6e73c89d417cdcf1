//! Compresses a blob as one gzip member without name and time (RFC 1952).
//!
//! The compressor is `miniz_oxide` itself, and not flate2. The bytes must not depend on the processor, and zlib-rs, which watchtap uses
//! through flate2, chooses its hash function by the processor's instructions. Within the workspace, cargo would give flate2 that backend.

use miniz_oxide::deflate::compress_to_vec;

/// Level of compression: the highest of zlib. Higher ones of `miniz_oxide` take several times as long for less than 1 %.
const LEVEL: u8 = 9;

/// Magic number, method deflate, no flags, no time, best compression, unknown system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];

pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut member = HEADER.to_vec();
    member.extend(compress_to_vec(bytes, LEVEL));
    member.extend(crc32fast::hash(bytes).to_le_bytes());
    // By the specification, this is the length modulo 2³².
    member.extend(bytes.len().to_le_bytes().iter().take(4));
    member
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn gzip_reads_it() {
        let text = "the same words, again and again; ".repeat(1_000);
        let mut gzip = Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        gzip.stdin.take().unwrap().write_all(&compress(text.as_bytes())).unwrap();
        let output = gzip.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }

    /// A changed compressor changes the digest of every image, so a change must be noticed.
    #[test]
    fn bytes_are_the_same_on_every_machine() {
        let member = compress(b"abcabcabc");
        assert_eq!(member, [&HEADER[..], &[75, 76, 74, 78, 4, 35, 0], &[0x18, 0x48, 0x2d, 0x46], &[9, 0, 0, 0]].concat());
    }
}
