//! Invariants of typed lines: space around a line changes nothing, and a line is read in the same way alone and as a record.

use observer_core::logs::{FoundRecord, LogClock, LogLine, LogRecord, LogRecords};

/// Reads each line alone, and as the only line of a log.
pub fn check(input: &[u8]) {
    let clock = LogClock::of_year(2024, 3_600);
    for line in input.split(|byte| *byte == b'\n') {
        let read = LogLine::read(line, &clock);
        let spaced = [b" \t", line, b" \r"].concat();
        assert_eq!(read, LogLine::read(&spaced, &clock), "space changed what is read");
        let Some(read) = read else { continue };
        check_record(line, read, clock);
    }
}

fn check_record(line: &[u8], read: LogLine, clock: LogClock) {
    let mut records = Vec::new();
    let mut log = LogRecords::of(clock);
    let mut take = |FoundRecord { envelope, record, .. }| {
        assert_eq!(envelope, None, "{record:?}");
        records.push(record);
    };
    // A brace on a line of its own, and a part of a runtime's line, begin something longer.
    let others = log.line(line.trim_ascii(), &mut take) + log.finish(&mut take);
    if let LogLine::AuditList(events) = &read {
        assert_eq!(records.len(), events.len());
    } else if !matches!(read, LogLine::Trace { .. }) {
        // The lines of a trace are joined.
        assert_eq!((records.as_slice(), others), ([LogRecord::Line(read)].as_slice(), 0));
    }
}
