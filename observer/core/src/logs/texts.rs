//! Reads the texts of one log: its lines without their envelopes, and without what only continues a line.

use super::envelope::{Envelope, Unwrapper};
use super::indented::Indented;
use super::line::LogLine;

/// The state between two lines of a log.
#[derive(Debug, Default)]
pub(super) struct LogTexts {
    unwrapper: Unwrapper,
    indented: Indented,
    /// Whether the last text was a record of klog, whose values may continue in further lines.
    is_in_klog: bool,
}

/// How a text was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Understood {
    /// It has no known form.
    No,
    /// As a record of klog.
    AsKlog,
    /// As anything else.
    AsOther,
}

impl Understood {
    pub(super) fn of(line: &LogLine) -> Self {
        if line.is_klog() { Self::AsKlog } else { Self::AsOther }
    }
}

impl LogTexts {
    /// Takes the next line, without its end. `each` receives the texts that it completes, with their innermost envelopes. Returns the
    /// number of lines that are found not to be understood.
    pub(super) fn line(&mut self, line: &[u8], each: &mut dyn FnMut(Option<Envelope>, &[u8]) -> Understood) -> u64 {
        // The value of a field may have several lines, and a last one with its end (kubernetes/klog `internal/serialize/keyvalues.go`).
        if self.is_in_klog && (line.starts_with(b"\t") || line == b" >") {
            return 0;
        }
        self.is_in_klog = false;
        let Self { unwrapper, indented, is_in_klog } = self;
        indented.line(line, &mut |line| {
            unwrapper.unwrap(line, &mut |envelope, text| {
                let understood = each(envelope, text);
                if understood != Understood::No {
                    *is_in_klog = understood == Understood::AsKlog;
                }
                understood != Understood::No
            })
        })
    }

    /// Notes that there are no further lines. Returns the number of lines that are found not to be understood.
    pub(super) fn finish(&mut self) -> u64 {
        self.unwrapper.finish().saturating_add(self.indented.finish())
    }
}
