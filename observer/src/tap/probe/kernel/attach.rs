//! Which program goes where.

use std::os::fd::OwnedFd;
use std::thread;

/// A program at a place of an executable file, by the name that it has in the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// `crypto/tls.(*Conn).Write`, at its entry.
    GoWrite,
    /// `crypto/tls.(*Conn).Read`, at its entry.
    GoRead,
    /// The same, at each return.
    GoReadReturn,
    /// `crypto/tls.(*Conn).Close`, at its entry.
    GoClose,
    /// Go's HTTP/2 client begins to encode the header block of a stream.
    GoEncodes,
    /// The same, at each return.
    GoEncoded,
    /// A field that Go's HPACK encoder is given.
    GoSentField,
    /// A field that Go's HPACK decoder gives out.
    GoReceivedField,
    /// Go's HTTP/2 client writes the header block of a stream.
    GoHeaders,
    /// `SSL_write`, at its entry.
    SslWrite,
    /// `SSL_read`, at its entry.
    SslRead,
    /// `SSL_write_ex`, at its entry.
    SslWriteEx,
    /// `SSL_read_ex`, at its entry.
    SslReadEx,
    /// Any of the four, at its returns.
    SslReturn,
    /// `SSL_shutdown`, at its entry.
    SslShutdown,
    /// `SSL_free`, at its entry.
    SslFree,
}

/// Places of a file that are probed for as long as this lives; the kernel ends it with the process, however that ends.
#[derive(Debug)]
pub struct Attachment {
    _link: OwnedFd,
}

impl Probe {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::GoWrite,
        Self::GoRead,
        Self::GoReadReturn,
        Self::GoClose,
        Self::GoEncodes,
        Self::GoEncoded,
        Self::GoSentField,
        Self::GoReceivedField,
        Self::GoHeaders,
        Self::SslWrite,
        Self::SslRead,
        Self::SslWriteEx,
        Self::SslReadEx,
        Self::SslReturn,
        Self::SslShutdown,
        Self::SslFree,
    ];

    /// The program's name in the object.
    pub const fn program(self) -> &'static str {
        match self {
            Self::GoWrite => "go_write",
            Self::GoRead => "go_read",
            Self::GoReadReturn => "go_read_return",
            Self::GoClose => "go_close",
            Self::GoEncodes => "go_encodes",
            Self::GoEncoded => "go_encoded",
            Self::GoSentField => "go_sent_field",
            Self::GoReceivedField => "go_received_field",
            Self::GoHeaders => "go_headers",
            Self::SslWrite => "ssl_write",
            Self::SslRead => "ssl_read",
            Self::SslWriteEx => "ssl_write_ex",
            Self::SslReadEx => "ssl_read_ex",
            Self::SslReturn => "ssl_return",
            Self::SslShutdown => "ssl_shutdown",
            Self::SslFree => "ssl_free",
        }
    }
}

/// Attachments that are ended at once, at most.
const AT_ONCE: usize = 64;

impl Attachment {
    pub(super) const fn new(link: OwnedFd) -> Self {
        Self { _link: link }
    }

    /// Ends them, together: for each the kernel waits until no processor runs its program any more, some ten milliseconds, and one such wait does for all that wait
    /// at the same time.
    pub fn end_all(attachments: Vec<Self>) {
        let share = attachments.len().div_ceil(AT_ONCE).max(1);
        let mut attachments = attachments.into_iter();
        let shares =
            std::iter::from_fn(|| Some(attachments.by_ref().take(share).collect::<Vec<_>>()).filter(|share| !share.is_empty()));
        thread::scope(|scope| {
            for share in shares {
                // Where there is no thread for it, it ends here.
                let _thread = thread::Builder::new().spawn_scoped(scope, move || drop(share));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aya_obj::{Object, ProgramSection};
    use observer_ebpf::OBJECT;

    use super::*;

    #[test]
    fn all_probes_are_all_uprobes_of_the_object() {
        let object = Object::parse(OBJECT).unwrap();
        let is_uprobe =
            |section: &ProgramSection| matches!(section, ProgramSection::UProbe { .. } | ProgramSection::URetProbe { .. });
        let uprobes = object.programs.iter().filter(|(_, program)| is_uprobe(&program.section));
        let uprobes: BTreeSet<&str> = uprobes.map(|(name, _)| name.as_str()).collect();
        assert_eq!(Probe::ALL.iter().map(|probe| probe.program()).collect::<BTreeSet<_>>(), uprobes);
    }
}
