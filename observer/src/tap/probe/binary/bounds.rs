//! Limits on the work and memory for an untrusted file.

/// Bytes of a file. The largest programs met are servers of about 120 MB; debug builds reach three times that.
pub const FILE_BYTES: u64 = 1 << 30;

/// Bytes of names that are searched in a shared library. LLVM's own library has 5 MB.
pub const NAME_BYTES: u64 = 64 << 20;

/// Program headers of a file. Linkers write about a dozen.
pub const SEGMENTS: usize = 128;

/// Section headers of a file.
pub const SECTIONS: usize = 16_384;

/// Functions of a Go program. kube-apiserver has about 120 000.
pub const GO_FUNCTIONS: u64 = 4_000_000;

/// Bytes of the text that names a Go release, as in `go1.27.0 X:boringcrypto`.
pub const GO_VERSION_BYTES: usize = 256;

/// Places tried as the start of a Go structure that has no section of its own.
pub const CANDIDATES: usize = 64;

/// Symbols of one symbol table.
pub const SYMBOLS: usize = 8_000_000;

/// Relocations of a file.
pub const RELOCATIONS: usize = 16_000_000;

/// Bytes of code of one function. The largest probed function has about 4 KB.
pub const FUNCTION_BYTES: u64 = 256 * 1024;

/// Pieces of code of one C function: its cold part, and the functions that it ends with a jump to.
pub const FUNCTION_PARTS: usize = 16;
