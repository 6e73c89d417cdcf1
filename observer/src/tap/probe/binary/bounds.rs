//! Limits on the work and memory for an untrusted file.

/// Maximum size of a file, in bytes. The largest programs met are servers of about 120 MB; debug builds reach three times that.
pub const FILE_BYTES: u64 = 1 << 30;

/// Maximum number of bytes of names that are searched in a shared library. LLVM's own library has 5 MB.
pub const NAME_BYTES: u64 = 64 << 20;

/// Maximum number of program headers of a file. Linkers write about a dozen.
pub const SEGMENTS: usize = 128;

/// Maximum number of section headers of a file.
pub const SECTIONS: usize = 16_384;

/// Maximum number of functions of a Go program. kube-apiserver has about 120 000.
pub const GO_FUNCTIONS: u64 = 4_000_000;

/// Maximum length, in bytes, of the text that names a Go release, as in `go1.27.0 X:boringcrypto`.
pub const GO_VERSION_BYTES: usize = 256;

/// Maximum number of hits that are tried when a structure or a name is searched for by its bytes.
pub const CANDIDATES: usize = 64;

/// Maximum number of symbols of one symbol table.
pub const SYMBOLS: usize = 8_000_000;

/// Maximum number of bytes that are read at once, and so held in memory. The longest piece is the table of relocations of a large
/// position-independent program; it has room for 1.4 million of them.
pub const PIECE_BYTES: u64 = 32 << 20;

/// Maximum size of the code of one piece of a function, in bytes. The largest probed function has about 4 KB.
pub const FUNCTION_BYTES: u64 = 256 * 1024;

/// Maximum number of pieces of code of one C function: itself, its cold part, and the functions that it tail-calls.
pub const FUNCTION_PARTS: usize = 16;
