//! One record of klog.

use std::borrow::Cow;
use std::fmt;

use super::clock::{LogClock, Stamp};
use super::fields::{Fields, fields};
use crate::logs::go_text::unquote;
use crate::time::Timestamp;

/// The severity of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::logs) enum Severity {
    Info,
    Warning,
    Error,
    Fatal,
}

/// A record, with its text borrowed from the line.
pub(in crate::logs) struct KlogRecord<'l> {
    pub(in crate::logs) severity: Severity,
    /// `None` if the time is no time.
    pub(in crate::logs) stamp: Option<Stamp>,
    /// The source file that wrote the record, without its folder.
    pub(in crate::logs) file: Cow<'l, str>,
    /// The text after the header. Of a structured record, only the message.
    pub(in crate::logs) message: Cow<'l, str>,
    /// Of a structured record.
    pub(in crate::logs) fields: Fields<'l>,
}

impl<'l> KlogRecord<'l> {
    /// Reads the text form, `Lmmdd hh:mm:ss.uuuuuu threadid file:line] message` (kubernetes/klog `internal/buffer/buffer.go`, v2.130.1;
    /// the same since glog). If the message is quoted, fields follow (kubernetes/klog `klog.go`, v2.0.0 and later).
    pub(in crate::logs) fn read(text: &'l str) -> Option<Self> {
        let severity = match text.as_bytes().first()? {
            b'I' => Severity::Info,
            b'W' => Severity::Warning,
            b'E' => Severity::Error,
            b'F' => Severity::Fatal,
            _other => return None,
        };
        let stamp = Stamp::of_klog(text.get(1..21)?)?;
        let rest = text.get(21..)?.strip_prefix(' ')?.trim_ascii_start();
        let (_thread, rest) = rest.split_once(' ').filter(|(thread, _)| thread.bytes().all(|byte| byte.is_ascii_digit()))?;
        let (place, body) = rest.split_once(']')?;
        let (file, _line) = place.rsplit_once(':').filter(|(_, line)| line.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(Self::of_body(severity, Some(stamp), file, body.strip_prefix(' ').unwrap_or(body)))
    }

    /// A record of its body and of facts that another line states.
    pub(in crate::logs) fn of_body(severity: Severity, stamp: Option<Stamp>, file: &'l str, body: &'l str) -> Self {
        let file = Cow::Borrowed(file_name(file));
        let quoted = unquote(body).filter(|quoted| quoted.rest.is_empty() || quoted.rest.starts_with([' ', '\n']));
        let (message, fields) = match quoted {
            Some(quoted) => (quoted.text, fields(quoted.rest).0),
            None => (Cow::Borrowed(body), Fields::default()),
        };
        Self { severity, stamp, file, message, fields }
    }

    pub(in crate::logs) fn at(&self, clock: &LogClock) -> Option<Timestamp> {
        self.stamp.and_then(|stamp| stamp.resolve(clock))
    }
}

impl fmt::Debug for KlogRecord<'_> {
    /// Without the message and the fields, which may hold secrets.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, stamp, file, .. } = self;
        formatter
            .debug_struct("KlogRecord")
            .field("severity", severity)
            .field("stamp", stamp)
            .field("file", file)
            .finish_non_exhaustive()
    }
}

/// The last segment of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
