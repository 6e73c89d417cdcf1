//! Why the connections of a file are not seen, or not all of them.

use std::io;

use observer_ebpf::MAX_FILES;

use super::orders::Finding;
use crate::tap::probe::binary::{BinaryError, OpenSslProbePoints, TlsLibrary, UnprobedLibrary};
use crate::tap::probe::kernel::KernelError;

/// Why a file's connections are not seen, or not all of them.
#[derive(Debug, thiserror::Error)]
pub(in crate::tap::probe) enum NotProbed {
    /// The places for probes cannot be determined.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The kernel refuses to probe it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The file cannot be opened.
    #[error("cannot open it: {0}")]
    Opening(#[from] io::Error),
    /// It contains a library that cannot be probed.
    #[error("{}; use the proxy for this client", .0.reason())]
    Library(UnprobedLibrary),
    /// A function that carries plaintext cannot be probed.
    #[error("cannot probe {function}: {reason}")]
    Function { function: &'static str, reason: &'static str },
    /// The options exclude the file.
    #[error("it is excluded from probing")]
    Excluded,
    /// The probes would cost too much.
    #[error(
        "its TLS functions are called {rate} times a second, more than the {budget} calls a second that probes may cost; it is left alone for the rest \
         of this run, and its connections are no longer seen"
    )]
    TooManyCalls {
        /// Calls per second.
        rate: u64,
        /// Calls per second allowed.
        budget: u32,
    },
    /// watchtap itself takes more processor time than its budget has, and most of it probably for this file.
    #[error(
        "watchtap takes {taken}m of a CPU, more than its budget of {budget}m, and most of it for this file: its TLS functions are called {rate} times a \
         second, and {bytes} bytes a second are recorded of them; it is left alone for the rest of this run, and its connections are no longer seen"
    )]
    TooMuchProcessor {
        /// Processor time taken, in thousandths of a processor.
        taken: u64,
        /// Processor time allowed, in thousandths of a processor.
        budget: u32,
        /// Calls per second.
        rate: u64,
        /// Recorded bytes per second, as [`RecordedWork`](crate::tap::probe::recorded_work::RecordedWork) counts them.
        bytes: u64,
    },
    /// The probes for header fields would cost too much.
    #[error(
        "its functions for the header fields of HTTP/2 are called {rate} times a second, more than the {budget} calls a second that probes may cost; \
         header fields of connections that are older than the probe stay unknown for the rest of this run; everything else of them is seen"
    )]
    TooManyFieldCalls {
        /// Calls per second.
        rate: u64,
        /// Calls per second allowed.
        budget: u32,
    },
    /// The system or this process lacks descriptors or memory, which may end.
    #[error("{0}; it is probed as soon as there are enough file descriptors and memory")]
    Shortage(Box<NotProbed>),
    /// [`MAX_FILES`] files are in use already.
    #[error("{MAX_FILES} files that processes run are probed already, which is the most")]
    TooMany,
}

impl NotProbed {
    /// Whether the file can no longer be reached through the process in which it was found.
    pub(in crate::tap::probe) fn is_gone(&self) -> bool {
        let Self::Opening(source) = self else { return false };
        source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ESRCH)
    }

    /// Whether the reason is a lack of descriptors or memory. It has nothing to do with the file, and may end.
    pub(super) fn is_shortage(&self) -> bool {
        let (Self::Opening(source)
        | Self::Binary(BinaryError::Unreadable { source, .. })
        | Self::Kernel(KernelError::Attach { source, .. } | KernelError::Load { source, .. })) = self
        else {
            return false;
        };
        source.raw_os_error().is_some_and(|number| [libc::EMFILE, libc::ENFILE, libc::ENOMEM].contains(&number))
    }

    /// The finding that a file is not probed, or not all of it, for this reason.
    pub(super) fn of(&self, file: &str) -> Finding {
        Finding::NotProbed { file: file.to_owned(), why: self.to_string() }
    }
}

/// Why some plaintext of a library is not seen. Functions that end a connection carry no plaintext, so they do not matter here.
pub(in crate::tap::probe) fn out_of_reach(library: &TlsLibrary) -> Option<NotProbed> {
    match library {
        TlsLibrary::GoCryptoTls(_) => None,
        TlsLibrary::Unprobed(library) => Some(NotProbed::Library(library.clone())),
        TlsLibrary::OpenSsl(OpenSslProbePoints { refused, .. }) => {
            let mut lost = refused.iter().filter(|refused| !["SSL_free", "SSL_shutdown"].contains(&refused.function));
            lost.next().map(|refused| NotProbed::Function { function: refused.function, reason: refused.reason })
        }
    }
}
