//! Invariants of the capture reader for any bytes: no panic, records that do not depend on the splitting, and observations that
//! another capture reproduces.

use observer_core::capture::{FileEnd, Reader, Record, Writer};
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

/// Reads the input in one piece, byte by byte and in pieces of 61, and writes the result to another capture.
pub fn check(input: &[u8]) {
    let whole = read(input, input.len().max(1));
    for chunk in [1, 61] {
        assert_eq!(whole, read(input, chunk), "splitting changed the records");
    }
    let observations = observations(&whole);
    let mut writer = Writer::new(Timestamp::default());
    let mut file = Vec::new();
    writer.begin_file(&mut file);
    for one in &observations {
        writer.record(one, &mut file);
    }
    writer.end_file(FileEnd::Complete, &mut file);
    assert_eq!(observations, self::observations(&read(&file, file.len())), "another capture says something else");
}

fn read(input: &[u8], chunk: usize) -> Vec<Record> {
    let mut records = Vec::new();
    let mut reader = Reader::default();
    for piece in input.chunks(chunk) {
        reader.bytes(piece, &mut |record| records.push(record));
    }
    reader.finish(&mut |record| records.push(record));
    records
}

fn observations(records: &[Record]) -> Vec<Observation> {
    let each = records.iter().filter_map(|record| match record {
        Record::Restated(one) | Record::Observation(one) => Some(one.clone()),
        Record::Head(_) | Record::Lost(_) | Record::End(_) | Record::Refused(_) => None,
    });
    each.collect()
}
