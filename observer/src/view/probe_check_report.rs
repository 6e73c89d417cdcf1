//! The output of `watchtap probe --check`.

use std::iter;

use serde::Serialize;

use super::colour::{Colour, Tone};
use super::quantity::counted;
use super::table::{Align, Cell, Table};
use crate::printable::{Printable, json};
use crate::probe_check_result::{
    CheckedFile, CheckedLibrary, CheckedProcess, NotExamined, ProbeCheck, Requirement, RequirementState, Seen,
};

/// Schema of `probe --check --format json`.
pub const PROBE_CHECK_SCHEMA: &str = "watchtap.probe-check/v1";
/// Processes named per file; JSON has all.
const NAMED: usize = 3;

#[derive(Serialize)]
struct Document<'c> {
    schema: &'static str,
    watchtap: &'static str,
    can_probe: bool,
    #[serde(flatten)]
    check: &'c ProbeCheck,
}

/// The complete check as one JSON object.
pub fn probe_check_json(check: &ProbeCheck) -> serde_json::Result<Printable> {
    let document =
        Document { schema: PROBE_CHECK_SCHEMA, watchtap: env!("CARGO_PKG_VERSION"), can_probe: check.can_probe(), check };
    json(&document)
}

/// The complete check as text, with the result first.
pub fn probe_check_text(check: &ProbeCheck, colour: Colour) -> Printable {
    let mut out = answer(check, colour);
    let mut requirements = Table::new(&[("", Align::Left), ("NEEDED", Align::Left), ("FOUND", Align::Left)]);
    for requirement in &check.requirements {
        requirements.row(requirement_cells(requirement), notes(requirement));
    }
    requirements.render(colour, &mut out);
    out.end_line();
    if !check.files.is_empty() {
        let columns = [("SEEN", Align::Left), ("PROGRAM OR LIBRARY", Align::Left), ("TLS", Align::Left), ("RUN BY", Align::Left)];
        let mut files = Table::new(&columns);
        for file in &check.files {
            files.row(file_cells(file), file.why.iter().cloned().collect());
        }
        files.render(colour, &mut out);
        out.end_line();
    }
    summary(check, &mut out);
    out
}

fn answer(check: &ProbeCheck, colour: Colour) -> Printable {
    let of = |state| check.requirements.iter().filter(|requirement| requirement.state == state).count();
    let number = |state| u64::try_from(of(state)).unwrap_or(u64::MAX);
    let mut answer = if check.can_probe() {
        match number(RequirementState::Limits) {
            0 => colour.paint(Tone::Good, "This machine can be probed."),
            1 => colour.paint(Tone::Notable, "This machine can be probed, with one limit."),
            limits => colour.paint(Tone::Notable, format_args!("This machine can be probed, with {limits} limits.")),
        }
    } else {
        let missing = counted(number(RequirementState::Missing), "thing");
        let is = if of(RequirementState::Missing) == 1 { "is" } else { "are" };
        colour.paint(Tone::Bad, format_args!("This machine cannot be probed: {missing} {is} missing."))
    };
    answer.end_line();
    answer.end_line();
    answer
}

/// The requirements that are missing, limit a probe or are unknown, one line each, for a log.
pub fn probe_check_lines(check: &ProbeCheck) -> Vec<String> {
    let relevant = check.requirements.iter().filter(|requirement| requirement.state >= RequirementState::Unknown);
    relevant.map(line).collect()
}

fn line(requirement: &Requirement) -> String {
    let Requirement { name, state, found, .. } = requirement;
    let first = format!("{state}: {name} ({found})");
    iter::once(first).chain(notes(requirement)).collect::<Vec<_>>().join("; ")
}

/// The requirements without which no probe works, on one line; `None` if there are none.
pub fn probe_obstacle(check: &ProbeCheck) -> Option<String> {
    let missing = check.requirements.iter().filter(|requirement| requirement.state == RequirementState::Missing);
    let missing: Vec<String> = missing.map(|Requirement { name, found, .. }| format!("{name} ({found})")).collect();
    (!missing.is_empty()).then(|| format!("no probe can run here. Missing: {}", missing.join(", ")))
}

fn requirement_cells(requirement: &Requirement) -> Vec<Cell> {
    let tone = match requirement.state {
        RequirementState::Met => Tone::Good,
        RequirementState::DoesNotMatter => Tone::Quiet,
        RequirementState::Unknown | RequirementState::Limits => Tone::Notable,
        RequirementState::Missing => Tone::Bad,
    };
    vec![Cell::toned(requirement.state.to_string(), tone), Cell::new(requirement.name), Cell::new(&requirement.found)]
}

fn notes(requirement: &Requirement) -> Vec<String> {
    let unseen = requirement.unseen.map(|unseen| format!("without it: {unseen}"));
    let remedy = requirement.remedy.as_ref().map(|remedy| format!("remedy: {remedy}"));
    unseen.into_iter().chain(remedy).collect()
}

fn file_cells(file: &CheckedFile) -> Vec<Cell> {
    let (word, tone) = match file.seen {
        Seen::Fully => ("yes", Tone::Good),
        Seen::Partly => ("partly", Tone::Notable),
        Seen::Not => ("no", Tone::Bad),
    };
    let libraries: Vec<String> = file.libraries.iter().map(library).collect();
    let libraries = if libraries.is_empty() { "-".to_owned() } else { libraries.join(", ") };
    vec![Cell::toned(word, tone), Cell::new(&file.name), Cell::new(libraries), Cell::new(some_of(&file.processes))]
}

fn library(library: &CheckedLibrary) -> String {
    let version = library.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let functions = if library.functions.is_empty() { String::new() } else { format!(": {}", library.functions.join(" ")) };
    format!("{}{version}{functions}", library.name)
}

/// `311 node, 312 node and 4 more`.
fn some_of(processes: &[CheckedProcess]) -> String {
    let named: Vec<String> = processes.iter().take(NAMED).map(|process| format!("{} {}", process.pid, process.name)).collect();
    match processes.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn summary(check: &ProbeCheck, out: &mut Printable) {
    let seen = check.files.iter().filter(|file| file.seen == Seen::Fully).count();
    let files = counted(u64::try_from(check.files.len()).unwrap_or(u64::MAX), "file");
    out.push_line(format_args!("{files} with TLS in running processes: {seen} fully visible"));
    for NotExamined { why, processes } in &check.not_examined {
        out.push_line(format_args!("not examined: {} ({why})", some_of(processes)));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn process(pid: u32) -> CheckedProcess {
        CheckedProcess { pid, name: "ap\x1bp".to_owned() }
    }

    fn check() -> ProbeCheck {
        let file = |name: &str, seen, why: Option<&str>, libraries, processes| CheckedFile {
            name: name.to_owned(),
            seen,
            why: why.map(str::to_owned),
            libraries,
            processes,
        };
        let rustls = CheckedLibrary { name: "rustls", version: Some("0.23.40".to_owned()), functions: Vec::new() };
        let openssl = CheckedLibrary { name: "OpenSSL", version: None, functions: vec!["SSL_write", "SSL_read"] };
        ProbeCheck {
            requirements: vec![
                Requirement::met("Linux 6.6 or later", "6.18.44"),
                Requirement::does_not_matter("tracefs", "not mounted: tracepoints are found by BTF"),
                Requirement::unknown("no lockdown", "no file"),
                Requirement::limits("CAP_SYS_PTRACE", "not in effect", "others are not seen", "run it as root"),
            ],
            files: vec![
                file("/bin/a\nb", Seen::Not, Some("it is out of reach"), vec![rustls], (1..=5).map(process).collect()),
                file("/bin/odd", Seen::Not, Some("Go \"devel\""), Vec::new(), vec![process(6)]),
                file("/lib/libssl.so.3", Seen::Fully, None, vec![openssl], vec![process(7)]),
            ],
            not_examined: vec![NotExamined { why: "permission denied".to_owned(), processes: (8..=12).map(process).collect() }],
        }
    }

    #[test]
    fn result_comes_first_then_each_row_with_its_remedy() {
        expect![[r#"
            This machine can be probed, with one limit.

                             NEEDED              FOUND
            met              Linux 6.6 or later  6.18.44
            does not matter  tracefs             not mounted: tracepoints are found by BTF
            unknown          no lockdown         no file
            limits           CAP_SYS_PTRACE      not in effect
              without it: others are not seen
              remedy: run it as root

            SEEN  PROGRAM OR LIBRARY  TLS                          RUN BY
            no    /bin/a�b            rustls 0.23.40               1 ap�p, 2 ap�p, 3 ap�p and 2 more
              it is out of reach
            no    /bin/odd            -                            6 ap�p
              Go "devel"
            yes   /lib/libssl.so.3    OpenSSL: SSL_write SSL_read  7 ap�p

            3 files with TLS in running processes: 1 fully visible
            not examined: 8 ap�p, 9 ap�p, 10 ap�p and 2 more (permission denied)
        "#]]
        .assert_eq(probe_check_text(&check(), Colour::Off).as_str());
    }

    #[test]
    fn result_counts_the_missing_requirements() {
        let missing = || Requirement::missing("CAP_BPF", "not in effect", "run it as root");
        for (requirements, expected) in [
            (vec![], "This machine can be probed."),
            (vec![missing()], "This machine cannot be probed: 1 thing is missing."),
            (vec![missing(), missing()], "This machine cannot be probed: 2 things are missing."),
        ] {
            let check = ProbeCheck { requirements, files: Vec::new(), not_examined: Vec::new() };
            assert_eq!(probe_check_text(&check, Colour::Off).as_str().lines().next(), Some(expected));
        }
    }

    #[test]
    fn log_has_a_line_for_each_requirement_that_is_not_met() {
        let mut check = check();
        assert_eq!(probe_obstacle(&check), None);
        for name in ["CAP_BPF", "CAP_PERFMON"] {
            check.requirements.push(Requirement::missing(name, "not in effect", "run it as root"));
        }
        assert_eq!(
            probe_check_lines(&check),
            [
                "unknown: no lockdown (no file)",
                "limits: CAP_SYS_PTRACE (not in effect); without it: others are not seen; remedy: run it as root",
                "missing: CAP_BPF (not in effect); remedy: run it as root",
                "missing: CAP_PERFMON (not in effect); remedy: run it as root",
            ]
        );
        let obstacle = probe_obstacle(&check).unwrap();
        assert_eq!(obstacle, "no probe can run here. Missing: CAP_BPF (not in effect), CAP_PERFMON (not in effect)");
    }

    #[test]
    fn missing_requirements_are_red_and_colour_adds_no_information() {
        let mut check = check();
        check.requirements.push(Requirement::missing("CAP_BPF", "not in effect", "run it as root"));
        let coloured = probe_check_text(&check, Colour::On).into_string();
        assert!(coloured.contains("\x1b[31mmissing"), "{coloured}");
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), probe_check_text(&check, Colour::Off).as_str());
    }

    #[test]
    fn json_includes_every_process() {
        let json: serde_json::Value = serde_json::from_str(probe_check_json(&check()).unwrap().as_str()).unwrap();
        assert_eq!((&json["schema"], &json["can_probe"]), (&PROBE_CHECK_SCHEMA.into(), &true.into()));
        let [row, file] = [&json["requirements"][3], &json["files"][0]];
        assert_eq!((row["state"].as_str(), row["unseen"].as_str()), (Some("Limits"), Some("others are not seen")));
        assert_eq!((file["seen"].as_str(), file["processes"].as_array().map(Vec::len)), (Some("Not"), Some(5)));
        assert_eq!(json["not_examined"][0]["processes"][4]["pid"], 12);
    }
}
