//! The gallery of incidents: each script in `tests/incidents` makes a section of `docs/incidents.md`. To write this file, run the
//! tests with `UPDATE_EXPECT=1`.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use expect_test::expect_file;
use observer_core::observer::{Problem, Snapshot};

use super::page::tests::{screen, script};
use super::problems::problem_line;
use super::{Colour, Run, report_text};
use crate::view::page::Page;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/incidents");
const INTRODUCTION: &str = include_str!("../../../tests/incidents/introduction.md");
/// Lines of the first screen of a report.
const FIRST_SCREEN: usize = 24;

/// A script with its header.
struct Incident {
    number: u32,
    title: String,
    /// The public reports, as `OWNER/REPOSITORY#NUMBER`.
    cases: Vec<String>,
    happened: Vec<String>,
    /// The kind of finding that watchtap reports for the incident.
    finding: String,
    /// The test that plays it.
    played: String,
    script: String,
}

#[test]
fn gallery_shows_what_the_page_shows_of_each_incident() {
    let mut gallery = INTRODUCTION.to_owned();
    for incident in incidents().unwrap() {
        incident.write(&mut gallery);
    }
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/incidents.md")].assert_eq(&gallery);
}

#[test]
fn first_screens_name_each_incident_and_its_change() {
    for incident in incidents().unwrap() {
        let snapshot = script::play(&incident.script);
        let named = problem_line(incident.problem(&snapshot));
        let report = report_text(&run(), &snapshot, Colour::Off).into_string();
        let first: Vec<&str> = report.lines().take(FIRST_SCREEN).collect();
        assert!(first.iter().any(|line| line.contains(&named)), "{}: {named:?} is not in\n{report}", incident.title);
        let page = incident.page();
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&named), "{}: {named:?} is not in\n{page}", incident.title);
    }
}

impl Incident {
    fn read(path: &Path) -> io::Result<Self> {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let number =
            name.split('-').next().and_then(|number| number.parse().ok()).ok_or_else(|| io::Error::other(name.to_owned()))?;
        let script = fs::read_to_string(path)?;
        let values = |key: &str| -> Vec<String> {
            let lines = script.lines().filter_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(": "));
            lines.map(str::to_owned).collect()
        };
        let value = |key: &str| values(key).join(" ");
        let cases = value("cases").split(", ").map(str::to_owned).collect();
        let (title, finding, played) = (value("title"), value("finding"), value("played"));
        Ok(Self { number, title, cases, happened: values("happened"), finding, played, script })
    }

    /// The problem in `snapshot` that has the incident's kind of finding.
    fn problem<'s>(&self, snapshot: &'s Snapshot) -> &'s Problem {
        let of_it = |problem: &&Problem| problem.kind.as_str() == self.finding;
        let problems: Vec<String> = snapshot.problems.iter().map(problem_line).collect();
        snapshot.problems.iter().find(of_it).unwrap_or_else(|| panic!("{}: no {} in {problems:#?}", self.title, self.finding))
    }

    /// The page in a terminal of 80×24.
    fn page(&self) -> String {
        let page = Page::new(script::play(&self.script), "prod", Vec::new(), Colour::Off);
        screen::lines_of(&screen::drawn(&page, 80, 24)).join("\n")
    }

    fn write(&self, gallery: &mut String) {
        let cases: Vec<String> = self.cases.iter().map(|case| link(case)).collect();
        let (number, title, finding) = (self.number, &self.title, &self.finding);
        let _infallible = write!(
            gallery,
            "\n## {number}. {title}\n\n{}\n\nFinding: [`{finding}`](findings.md#{finding}). Played by {}.\n\n```text\n{}\n```\n\nReports: {}.\n",
            self.happened.join("\n"),
            self.played,
            self.page(),
            cases.join(",\n"),
        );
    }
}

/// All incidents, in the order of their numbers.
fn incidents() -> io::Result<Vec<Incident>> {
    let paths = fs::read_dir(SCRIPTS)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let scripts = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "script"));
    let mut incidents = scripts.map(|path| Incident::read(path)).collect::<io::Result<Vec<_>>>()?;
    incidents.sort_by_key(|incident| incident.number);
    Ok(incidents)
}

/// `[OWNER/REPOSITORY#NUMBER](…)`.
fn link(case: &str) -> String {
    match case.split_once('#') {
        Some((repository, number)) => format!("[{case}](https://github.com/{repository}/issues/{number})"),
        None => case.to_owned(),
    }
}

fn run() -> Run {
    Run { subcommand: "run", command: Vec::new(), exit_code: None, silence: Vec::new(), budget: None, log: None, notes: Vec::new() }
}
