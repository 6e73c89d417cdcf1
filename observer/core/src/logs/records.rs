//! Reads lines of any form one after the other, and passes on the record of each.
//!
//! [`super::LogReplay`] joins the records of many lines to requests. Here, each record stands for itself, so that a person may have it
//! explained.

use super::audit::MAX_LINE;
use super::envelope::Envelope;
use super::klog::LogClock;
use super::line::LogLine;
use super::origin::LineOrigin;
use super::texts::{LogTexts, Understood};
use super::trace::{RequestTrace, TraceCollector};

/// The record of one line, or of the lines of one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogRecord {
    /// One line. [`LogLine::Trace`] is a line of a trace whose first line is missing.
    Line(LogLine),
    /// All lines of a trace.
    Trace(Box<RequestTrace>),
}

/// A record, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRecord {
    /// The innermost envelope.
    pub envelope: Option<Envelope>,
    /// The programs and versions that write it.
    pub origin: LineOrigin,
    /// Its content.
    pub record: LogRecord,
}

/// Reads the lines of one log.
#[derive(Debug)]
pub struct LogRecords {
    clock: LogClock,
    texts: LogTexts,
    traces: TraceCollector,
}

impl LogRecords {
    /// Reads lines, with the year and the zone of those that state neither.
    pub fn of(clock: LogClock) -> Self {
        Self { clock, texts: LogTexts::default(), traces: TraceCollector::default() }
    }

    /// Takes the next line, without its end. `each` receives the records that it completes. Returns the number of lines that are found not
    /// to be understood.
    pub fn line(&mut self, line: &[u8], each: &mut dyn FnMut(FoundRecord)) -> u64 {
        if line.trim_ascii().is_empty() {
            return 0;
        }
        if line.len() > MAX_LINE {
            return 1;
        }
        let Self { clock, texts, traces } = self;
        texts.line(line, &mut |wrapping, text| {
            let envelope = wrapping.map(|wrapping| wrapping.envelope);
            let clock = wrapping.and_then(|wrapping| wrapping.at).map_or(*clock, |at| clock.at_about(at));
            let Some(read) = LogLine::read(text, &clock) else { return Understood::No };
            let understood = Understood::of(&read);
            let text = String::from_utf8_lossy(text);
            let origin = LineOrigin::of(&read, text.trim_start());
            record(read, envelope, origin, traces, each);
            understood
        })
    }

    /// Notes that there are no further lines. Passes on traces without their last line. Returns the number of lines that are found not to be
    /// understood.
    pub fn finish(&mut self, each: &mut dyn FnMut(FoundRecord)) -> u64 {
        self.traces.finish(&mut |trace| each(of_trace(None, None, trace)));
        self.texts.finish()
    }
}

fn record(
    read: LogLine,
    envelope: Option<Envelope>,
    origin: LineOrigin,
    traces: &mut TraceCollector,
    each: &mut dyn FnMut(FoundRecord),
) {
    let mut pass = |line| each(FoundRecord { envelope, origin, record: LogRecord::Line(line) });
    match read {
        LogLine::AuditList(events) => events.into_iter().for_each(|event| pass(LogLine::Audit(Box::new(event)))),
        LogLine::Trace { at, parts } => {
            for part in parts {
                let orphans = traces.orphans();
                traces.take(&part, at, &mut |trace| each(of_trace(envelope, Some(origin), trace)));
                if traces.orphans() > orphans {
                    each(FoundRecord { envelope, origin, record: LogRecord::Line(LogLine::Trace { at, parts: vec![part] }) });
                }
            }
        }
        line @ (LogLine::Audit(_)
        | LogLine::LegacyAudit(_)
        | LogLine::GkeAudit(_)
        | LogLine::Request(_)
        | LogLine::WatchStarted(_)
        | LogLine::Cache(_)
        | LogLine::Reflector(_)
        | LogLine::Client(_)
        | LogLine::Etcd(_)
        | LogLine::Cut
        | LogLine::Other { .. }) => pass(line),
    }
}

/// `line` is the origin of the line that completes the trace. JSON has a block in one record, with its time.
fn of_trace(envelope: Option<Envelope>, line: Option<LineOrigin>, trace: RequestTrace) -> FoundRecord {
    let origin = LineOrigin::of_trace(&trace);
    let assumed = line.filter(|_| trace.logged.is_some()).map_or(origin.assumed, |line| line.assumed);
    FoundRecord { envelope, origin: LineOrigin { assumed, ..origin }, record: LogRecord::Trace(Box::new(trace)) }
}
