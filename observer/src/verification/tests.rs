//! Tests of reading growing and rotated log files.

use std::fs::OpenOptions;
use std::io::Write;

use super::LogTail;

#[test]
fn only_complete_lines_after_the_mark_are_returned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    std::fs::write(&path, "old\n").unwrap();
    let mut tail = LogTail::open(&path).unwrap();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"one\ntwo\nthr").unwrap();
    assert_eq!(lines(&tail), ["one\n", "two\n"]);
    tail.mark(tail.end().unwrap() - 3);
    file.write_all(b"ee\nfour\n").unwrap();
    assert_eq!(lines(&tail), ["three\n", "four\n"]);
    std::fs::write(&path, "rotated\n").unwrap();
    assert_eq!(lines(&tail), ["rotated\n"]);
}

#[test]
fn missing_audit_log_is_named() {
    let error = LogTail::open(std::path::Path::new("/no/such/audit.log")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /no/such/audit.log: "), "{error}");
}

fn lines(tail: &LogTail) -> Vec<String> {
    let mut lines = Vec::new();
    tail.lines(&mut |line| lines.push(String::from_utf8_lossy(line).into_owned())).unwrap();
    lines
}
