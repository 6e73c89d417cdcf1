//! The eBPF programs for uprobes, and their attachments.

use std::os::fd::OwnedFd;
use std::thread;

/// An eBPF program that is attached to places in an executable file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    /// `crypto/tls.(*Conn).Write`, at its entry.
    GoWrite,
    /// `crypto/tls.(*Conn).Read`, at its entry.
    GoRead,
    /// `crypto/tls.(*Conn).Read`, at each return.
    GoReadReturn,
    /// `crypto/tls.(*Conn).Close`, at its entry.
    GoClose,
    /// `encodeAndWriteHeaders` of Go's HTTP/2 client, at its entry: it begins to encode the header block of a stream.
    GoEncodes,
    /// `encodeAndWriteHeaders`, at each return.
    GoEncoded,
    /// Go's HPACK encoder takes a field.
    GoSentField,
    /// Go's HPACK decoder returns a field.
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
    /// Any of the four functions above, at its returns.
    SslReturn,
    /// `SSL_shutdown`, at its entry.
    SslShutdown,
    /// `SSL_free`, at its entry.
    SslFree,
}

/// Probed places of a file. They last as long as this value; when the process ends, the kernel removes them.
#[derive(Debug)]
pub struct Attachment {
    /// One link for all places, or a link or an event for each.
    _held: Vec<OwnedFd>,
}

impl Probe {
    /// All programs.
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

/// Maximum number of attachments that end concurrently.
const AT_ONCE: usize = 64;

impl Attachment {
    pub(super) fn by_link(link: OwnedFd) -> Self {
        Self { _held: vec![link] }
    }

    pub(super) const fn by_events(held: Vec<OwnedFd>) -> Self {
        Self { _held: held }
    }

    /// Ends attachments together. For each, the kernel waits some ten milliseconds, until no processor runs its program any more.
    /// Concurrent waits share that time, except those for perf events: the kernel ends one event after the other, each in 20 to 100
    /// milliseconds.
    pub fn end_all(attachments: Vec<Self>) {
        let share = attachments.len().div_ceil(AT_ONCE).max(1);
        let mut attachments = attachments.into_iter();
        let shares =
            std::iter::from_fn(|| Some(attachments.by_ref().take(share).collect::<Vec<_>>()).filter(|share| !share.is_empty()));
        thread::scope(|scope| {
            for share in shares {
                // If no thread can be started, the share ends on this thread.
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
    fn probe_list_matches_the_uprobes_of_the_object() {
        let object = Object::parse(OBJECT).unwrap();
        let is_uprobe =
            |section: &ProgramSection| matches!(section, ProgramSection::UProbe { .. } | ProgramSection::URetProbe { .. });
        let uprobes = object.programs.iter().filter(|(_, program)| is_uprobe(&program.section));
        let uprobes: BTreeSet<&str> = uprobes.map(|(name, _)| name.as_str()).collect();
        assert_eq!(Probe::ALL.iter().map(|probe| probe.program()).collect::<BTreeSet<_>>(), uprobes);
    }
}
