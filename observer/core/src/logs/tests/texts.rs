//! Lines that continue others, and lines in envelopes.

use crate::logs::replay::tests::replayed;

#[test]
fn line_in_an_envelope_has_the_year_of_the_envelope() {
    let line = "2024-03-22T02:00:01.1Z stderr F I0322 02:00:01.000000   77 round_trippers.go:553] GET https://h/api/v1/pods 200 OK in 8 milliseconds";
    let (observations, _) = replayed(&[line.to_owned()]);
    assert_eq!(observations.last().map(|last| last.at.to_string()).as_deref(), Some("2024-03-22T02:00:01.000000000Z"));
}

#[test]
fn values_of_several_lines_are_no_lines_of_their_own() {
    let record = "E1122 02:00:01.000000       1 a.go:1] \"b\" stack=<";
    let raw = [record, "\t", "\tgoroutine 1", " > addedInfo=<", "\tmore", " >"].map(str::to_owned);
    assert_eq!(replayed(&raw).1.not_understood, 0);
    for begin in ["2026-11-22T02:00:01.1Z stderr F ", "2026-11-22T02:00:01.1Z ", "2026-11-22T02:00:01.1Z stream "] {
        let wrapped = raw.each_ref().map(|line| format!("{begin}{line}"));
        assert_eq!(replayed(&wrapped).1.not_understood, 0, "{begin}");
    }
    let entries = raw.each_ref().map(|line| format!("{{\"message\":{line:?}}}")).join(",");
    assert_eq!(replayed(&[format!("{{\"logEvents\":[{entries}]}}")]).1.not_understood, 0);
    let indented = ["{", "\t\"events\": [", "\t\t{", &format!("\t\t\t\"message\": {:?}", "I1122 02:00:01.000000 1 a.go:1] b")];
    let rest = ["\t\t},", "\t\t{", "\t\t\t\"message\": \"unknown\"", "\t\t}", "\t]", "}"];
    let lines: Vec<String> = indented.into_iter().chain(rest).map(str::to_owned).collect();
    assert_eq!(replayed(&lines).1.not_understood, 1, "indented JSON is no value");
}
