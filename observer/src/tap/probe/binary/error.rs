//! Why a program gives no offsets.

use std::io;
use std::path::PathBuf;

use super::bounds;

/// Why a program gives no offsets. Each text names the place in the file or the function.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {source}; the probes need the permission to read the programs of the clients")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The file is larger than [`bounds::FILE_BYTES`].
    #[error("{path} has {bytes} bytes, more than the {} that are looked at; strip its debugging sections", bounds::FILE_BYTES)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its length, in bytes.
        bytes: u64,
    },
    /// The file is no program that is understood here at all.
    #[error("not a program that can be probed: {0}")]
    Unsupported(&'static str),
    /// The file contradicts its own format, is cut off, or passes one of [`bounds`].
    #[error("{section} is malformed at {at:#x}: {what}; the file is damaged, or not written by a known linker")]
    Malformed {
        /// The section or header, by its customary name.
        section: &'static str,
        /// Offset in the file, or address where `what` says so.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The program is of a Go release whose layout is not known.
    #[error(
        "the program is built with Go {version:?}, and where its functions lie is known of 1.18 to 1.27 only; build it with one of these"
    )]
    UnknownGoVersion {
        /// What the program says of itself.
        version: String,
    },
    /// A function is there, but where to probe it cannot be said for certain.
    #[error("cannot probe {function}: {reason}")]
    Function {
        /// The function's name in the symbol table.
        function: &'static str,
        /// Why.
        reason: &'static str,
    },
}

impl BinaryError {
    pub(super) fn malformed(section: &'static str, at: u64, what: &'static str) -> Self {
        Self::Malformed { section, at, what }
    }
}
