//! Reads the texts of one log: its lines without their envelopes, and without what only continues a line.

use super::envelope::{Unwrapper, Wrapping};
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
    /// Takes the next line, without its end. `each` receives the texts that it completes, with the envelopes around them. Returns the number
    /// of lines that are found not to be understood.
    pub(super) fn line(&mut self, line: &[u8], each: &mut dyn FnMut(Option<Wrapping>, &[u8]) -> Understood) -> u64 {
        let Self { unwrapper, indented, is_in_klog } = self;
        // A line of JSON may be indented as a value is.
        if *is_in_klog && !indented.is_open() && continues(line) {
            return 0;
        }
        indented.line(line, &mut |line| {
            let unwrapped = unwrapper.unwrap(line, &mut |wrapping, text| {
                // Each line in an envelope may continue the one before. The white space of a blank one is gone.
                if wrapping.is_some() && (text.is_empty() || (*is_in_klog && continues(text))) {
                    return true;
                }
                let understood = each(wrapping, text.trim_ascii_start());
                if understood != Understood::No {
                    *is_in_klog = understood == Understood::AsKlog;
                }
                understood != Understood::No
            });
            *is_in_klog &= unwrapped.is_understood;
            unwrapped
        })
    }

    /// Notes that there are no further lines. Returns the number of lines that are found not to be understood.
    pub(super) fn finish(&mut self) -> u64 {
        self.unwrapper.finish().saturating_add(self.indented.finish())
    }
}

/// Whether a text may continue the record of klog before it. The value of a field may have several lines, and then a last one with its end, after
/// which other fields may follow (kubernetes/klog `internal/serialize/keyvalues.go`).
fn continues(text: &[u8]) -> bool {
    text.starts_with(b"\t") || text.starts_with(b" >")
}
