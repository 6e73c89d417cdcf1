//! Why a program has no known probe points.

use std::io;
use std::path::PathBuf;

use super::bounds;

/// Why a program has no known probe points. Each message names the place in the file or the function.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {source}; the probes need the permission to read the programs of the clients")]
    Unreadable {
        /// The file's path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The file is larger than [`bounds::FILE_BYTES`].
    #[error("{path} has {bytes} bytes, more than the {} that are read; strip its debugging sections", bounds::FILE_BYTES)]
    TooLarge {
        /// The file's path.
        path: PathBuf,
        /// Its length, in bytes.
        bytes: u64,
    },
    /// The file is not a program of a supported kind.
    #[error("not a program that can be probed: {0}")]
    Unsupported(&'static str),
    /// The file contradicts its own format, is cut off, or exceeds one of [`bounds`].
    #[error("{section} is malformed at {at:#x}: {what}; the file is damaged, or not written by a known linker")]
    Malformed {
        /// The section or header, by its customary name.
        section: &'static str,
        /// Offset in the file, or an address if `what` states so.
        at: u64,
        /// The fault.
        what: &'static str,
    },
    /// The program is from a Go release with an unknown layout.
    #[error(
        "the program is built with Go {version:?}, and where its functions lie is known of 1.18 to 1.27 only; build it with one of these"
    )]
    UnknownGoVersion {
        /// The version that the program states.
        version: String,
    },
    /// A function exists, but where to probe it is uncertain.
    #[error("cannot probe {function}: {reason}")]
    Function {
        /// The function's name in the symbol table.
        function: &'static str,
        /// Why it is uncertain.
        reason: &'static str,
    },
}

impl BinaryError {
    pub(super) fn malformed(section: &'static str, at: u64, what: &'static str) -> Self {
        Self::Malformed { section, at, what }
    }
}
