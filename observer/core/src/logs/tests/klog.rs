//! Headers, fields and times of klog.

use super::reading::{clock, read, time};
use crate::logs::klog::{KlogRecord, Severity, read_json, zoned};
use crate::logs::{LogClock, LogLine};
use crate::time::Timestamp;

/// The time of a line that has neither a year nor a zone.
fn resolved(header: &str, clock: LogClock) -> Option<String> {
    let line = format!("I{header}       1 x.go:1] y");
    let LogLine::Other { at } = LogLine::read(line.as_bytes(), &clock)? else { panic!("{line}") };
    at.map(|at| at.to_string())
}

#[test]
fn line_after_the_reference_may_be_of_the_following_year() {
    let clock = |reference: &str| LogClock::until(time(reference).unwrap(), 0);
    let year = |header, reference| resolved(header, clock(reference)).map(|at| at[..4].to_owned());
    for (header, reference, expected) in [
        ("0101 00:30:00.000000", "2025-12-31T23:30:00Z", "2026"),
        ("0101 00:30:00.000000", "2025-12-30T23:30:00Z", "2025"),
        ("1231 23:30:00.000000", "2026-01-01T00:30:00Z", "2025"),
        ("0630 23:30:00.000000", "2026-01-01T00:30:00Z", "2026"),
    ] {
        assert_eq!(year(header, reference).as_deref(), Some(expected), "{header} {reference}");
    }
    assert_eq!(resolved("0101 00:30:00.000000", LogClock::of_year(2025, 0)).map(|at| at[..4].to_owned()).as_deref(), Some("2025"));
}

#[test]
fn header_and_text_are_read() {
    let record = KlogRecord::read("W0320 12:00:01.000200   48211 some/vendor/reflector.go:302] a: b] \"c\"").unwrap();
    assert_eq!((record.severity, &*record.file, &*record.message), (Severity::Warning, "reflector.go", "a: b] \"c\""));
    assert!(record.fields.is_empty());
    assert_eq!(record.at(&clock()), time("2024-03-20T12:00:01.0002Z"));
    for (line, severity) in
        [("E0101 00:00:00.000000 1 a.go:1] ", Severity::Error), ("F0101 00:00:00.000000 1 a.go:1]", Severity::Fatal)]
    {
        let record = KlogRecord::read(line).unwrap();
        assert_eq!((record.severity, &*record.message), (severity, ""));
    }
}

#[test]
fn message_and_fields_of_a_structured_record_are_read() {
    let line = concat!(
        r#"I0111 12:17:34.692264      12 a.go:89] "The \"message\"" text="a \"b\" ] c=d" number=42 duration="1.5ms" object={"a b":"}"} "#,
        "list=[\"a b\"] again=1 again=2 lines=<\n\tfirst = \"x\"\n\tsecond\n > after=\"y\" none=",
    );
    let record = KlogRecord::read(line).unwrap();
    assert_eq!(record.message, "The \"message\"");
    for (key, value) in [
        ("text", Some("a \"b\" ] c=d")),
        ("number", Some("42")),
        ("object", Some(r#"{"a b":"}"}"#)),
        ("list", Some(r#"["a b"]"#)),
        ("again", Some("2")),
        ("lines", Some("first = \"x\"\nsecond")),
        ("after", Some("y")),
        ("none", Some("")),
        ("absent", None),
    ] {
        assert_eq!(record.fields.get(key), value, "{key}");
    }
}

#[test]
fn line_feed_of_a_json_message_is_no_part_of_it() {
    let line = r#"{"ts":1795312800000.5,"caller":"round_trippers.go:553","msg":"GET https://h/api/v1/pods 200 OK in 8 milliseconds\n","v":6}"#;
    let LogLine::Client(request) = read(line) else { panic!("{line}") };
    assert_eq!(request.status, Some(200));
}

#[test]
fn value_of_several_lines_may_be_cut_after_its_first_line() {
    let record = KlogRecord::read(r#"I0111 12:17:34.692264      12 a.go:89] "HTTP" resp=500 statusStack=<"#).unwrap();
    assert_eq!((record.fields.get("resp"), record.fields.get("statusStack")), (Some("500"), Some("")));
}

#[test]
fn quoted_text_without_fields_is_no_structured_record() {
    let record = KlogRecord::read(r#"I0111 12:17:34.692264      12 a.go:89] "a": b=c"#).unwrap();
    assert_eq!(record.message, r#""a": b=c"#);
    assert!(record.fields.is_empty());
}

#[test]
fn json_record_is_read() {
    let line = r#"{"ts":1580306777047.28,"caller":"cache/reflector.go:158","msg":"HTTP","v":3,"verb":"LIST","latency":"1.5s","ok":true,"a":{"b":1},"c":1,"c":2.5}"#;
    let record = read_json(line).unwrap();
    assert_eq!((record.severity, &*record.file, &*record.message), (Severity::Info, "reflector.go", "HTTP"));
    assert_eq!(record.at(&clock()), time("2020-01-29T14:06:17.04728Z"));
    for (key, value) in [("verb", "LIST"), ("latency", "1.5s"), ("ok", "true"), ("a", ""), ("c", "2.5")] {
        assert_eq!(record.fields.get(key), Some(value), "{key}");
    }
    let error = read_json(r#"{"ts":1580306777.04728,"caller":"a.go:1","msg":"m","err":"e"}"#).unwrap();
    assert_eq!((error.severity, error.fields.get("err")), (Severity::Error, Some("e")));
    assert_eq!(error.at(&clock()), time("2020-01-29T14:06:17.04728Z"));
    for other in
        [r#"{"level":"info","ts":1,"msg":"zap"}"#, r#"{"msg":"no time"}"#, r#"{"ts":1}"#, "{", "[]", r#"{"ts":1,"msg":"m""#]
    {
        assert!(read_json(other).is_none(), "{other}");
    }
    assert_eq!(read_json(r#"{"ts":-1e300,"msg":"m"}"#).unwrap().at(&clock()), None);
}

#[test]
fn line_without_a_year_has_that_of_the_reference_date_or_the_one_before() {
    let until = |text| LogClock::until(Timestamp::from_rfc3339(text).unwrap(), 0);
    for (header, clock, expected) in [
        ("0620 12:33:17.389016", LogClock::of_year(2024, 0), Some("2024-06-20T12:33:17.389016000Z")),
        ("1231 23:59:59.999999", LogClock::of_year(2024, 0), Some("2024-12-31T23:59:59.999999000Z")),
        ("0101 00:00:00.000000", LogClock::of_year(2024, 0), Some("2024-01-01T00:00:00.000000000Z")),
        // Over New Year.
        ("1231 23:59:59.999999", until("2025-01-02T08:00:00Z"), Some("2024-12-31T23:59:59.999999000Z")),
        ("0101 00:00:00.000000", until("2025-01-02T08:00:00Z"), Some("2025-01-01T00:00:00.000000000Z")),
        // Somewhat after the reference, for example after a wrong zone.
        ("0103 08:00:00.000000", until("2025-01-02T08:00:00Z"), Some("2025-01-03T08:00:00.000000000Z")),
        ("0704 08:00:00.000000", until("2025-01-02T08:00:00Z"), Some("2025-07-04T08:00:00.000000000Z")),
        ("0705 08:00:00.000000", until("2025-01-02T08:00:00Z"), Some("2024-07-05T08:00:00.000000000Z")),
        // A leap day.
        ("0229 08:00:00.000000", until("2024-03-01T08:00:00Z"), Some("2024-02-29T08:00:00.000000000Z")),
        ("0229 08:00:00.000000", until("2027-03-01T08:00:00Z"), Some("2024-02-29T08:00:00.000000000Z")),
        ("0230 08:00:00.000000", until("2027-03-01T08:00:00Z"), None),
        ("1331 08:00:00.000000", until("2027-03-01T08:00:00Z"), None),
        ("0000 08:00:00.000000", until("2027-03-01T08:00:00Z"), None),
        // Zones.
        ("0101 00:30:00.000000", LogClock::of_year(2024, 3_600), Some("2023-12-31T23:30:00.000000000Z")),
        ("1231 20:00:00.000000", LogClock::of_year(2024, -18_000), Some("2025-01-01T01:00:00.000000000Z")),
        (
            "0101 00:30:00.000000",
            LogClock::until(Timestamp::from_rfc3339("2024-12-31T23:40:00Z").unwrap(), 3_600),
            Some("2024-12-31T23:30:00.000000000Z"),
        ),
        ("0101 00:30:00.000000", LogClock::of_year(1970, 3_600), None),
        ("0101 00:30:00.000000", LogClock::of_year(u16::MAX, i32::MIN), Some("2622-01-18T03:44:08.000000000Z")),
    ] {
        let expected = expected.filter(|text| !text.starts_with("26"));
        assert_eq!(resolved(header, clock).as_deref(), expected, "{header} {clock:?}");
    }
}

#[test]
fn time_with_a_zone_is_read() {
    for (text, expected) in [
        ("2024-04-22T17:18:03.21385+0800", time("2024-04-22T09:18:03.21385Z")),
        ("2024-04-22T17:18:03-01:30", time("2024-04-22T18:48:03Z")),
        ("2024-04-22T17:18:03Z", time("2024-04-22T17:18:03Z")),
        ("2024-04-22T17:18:03", None),
        ("2024-04-22", None),
        ("1970-01-01T00:00:00+01:00", None),
        ("-", None),
    ] {
        assert_eq!(zoned(text), expected, "{text}");
    }
}

#[test]
fn other_records_and_other_text_are_distinguished() {
    assert_eq!(read("I0620 12:33:17.389016      11 some.go:1] other").form(), "other klog line");
    for line in [
        "",
        "I",
        "Info: no record",
        "I0620 12:33:17.389016      11 some.go",
        "I0620 12:33:17.389016      eleven some.go:1] x",
        "I0620 12:33:17.38901       11 some.go:1] x",
        "I0620 25:33:17.389016      11 some.go:1] x",
        "X0620 12:33:17.389016      11 some.go:1] x",
        "goroutine 12 [running]:",
        "{\"a\":1}",
        "2024",
    ] {
        assert_eq!(LogLine::read(line.as_bytes(), &clock()), None, "{line}");
    }
}
