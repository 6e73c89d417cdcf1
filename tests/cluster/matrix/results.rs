//! The results of a minor's rows, and their file.

use std::fs;

use observer_core::routing::ServerProfile;
use observer_tests::{Minor, accuracy_folder};
use serde_json::{Value, json};

use super::judgement::{Judged, Outcome, judge};
use super::session::Session;

/// All rows of one minor.
pub(super) struct Results {
    minor: Minor,
    version: String,
    judged: Vec<Judged>,
}

impl Results {
    pub(super) fn of(minor: Minor) -> Self {
        Self { minor, version: String::new(), judged: Vec::new() }
    }

    /// Ends a session and judges its rows.
    pub(super) fn add(&mut self, session: Session) {
        let (cluster, asked, finished) = session.finish();
        cluster.version().clone_into(&mut self.version);
        let profile: ServerProfile = serde_json::from_value(finished.report["profile"].clone()).unwrap();
        self.judged.extend(asked.into_iter().map(|asked| judge(asked, &finished.events, &profile)));
    }

    /// Adds the rows of other sessions of the same minor.
    pub(super) fn append(&mut self, mut others: Self) {
        self.version = others.version;
        self.judged.append(&mut others.judged);
    }

    /// Writes the file, and fails if a row disagrees.
    #[track_caller]
    pub(super) fn finish(self) {
        let rows: Vec<Value> = self.judged.iter().map(Judged::to_json).collect();
        let folder = accuracy_folder();
        fs::create_dir_all(&folder).unwrap();
        let document = json!({"minor": self.minor.0, "version": self.version, "rows": rows});
        fs::write(folder.join(format!("{}.json", self.minor)), format!("{document:#}\n")).unwrap();

        let of = |wanted: fn(&Outcome) -> bool| self.judged.iter().filter(move |judged| wanted(&judged.outcome));
        let agreed = of(|outcome| matches!(outcome, Outcome::Agreed | Outcome::AgreedBySecond)).count();
        let open = of(|outcome| matches!(outcome, Outcome::NotDecidable(_))).count();
        let missing = of(|outcome| matches!(outcome, Outcome::NotProvoked(_))).count();
        println!("{}: {} rows, {agreed} agreed, {open} not decidable, {missing} not provoked", self.version, rows.len());
        let wrong: Vec<String> = of(|outcome| matches!(outcome, Outcome::Disagreed(_))).map(Judged::sentence).collect();
        assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
        assert!(agreed > 0, "no row was asked");
    }
}
