//! The commands of `deploy/README.md`, and a shell that runs them on a node.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use observer_tests::node::Node;
use observer_tests::{Helm, built, chart, kubectl};
use tempfile::TempDir;

use super::installed::{IMAGE, shell};

/// The registry in the commands.
const REGISTRY: &str = "registry.example:5000";

/// The commands in the fenced blocks of a chapter, which is given by the beginning of its title, without those of its sections.
pub(crate) fn commands_of(title: &str) -> Vec<String> {
    let guide = fs::read_to_string(chart().join("../README.md")).unwrap();
    let chapter = guide.split("\n## ").find(|chapter| chapter.starts_with(title)).unwrap();
    let chapter = chapter.split("\n### ").next().unwrap();
    let blocks = chapter.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| block.replace("\\\n", " ").trim().to_owned()).collect()
}

/// The programs of the commands, and their names for places.
pub(crate) struct Guide<'n> {
    node: &'n Node,
    programs: TempDir,
    /// Words of the commands, each with its replacement.
    places: Vec<(&'static str, &'n str)>,
}

impl<'n> Guide<'n> {
    /// The programs, with this Helm. `places` has words of the commands, each with its replacement.
    pub(crate) fn of(node: &'n Node, helm: &Helm, places: &[(&'static str, &'n str)]) -> Self {
        let programs = tempfile::tempdir().unwrap();
        let files =
            [("watchtap", built("watchtap").unwrap()), ("kubectl", kubectl().unwrap()), ("helm", helm.program().to_owned())];
        for (name, program) in files {
            symlink(program, programs.path().join(name)).unwrap();
        }
        let (registry, _) = IMAGE.split_once('/').unwrap();
        let places = [&[(REGISTRY, registry)], places].concat();
        Self { node, programs, places }
    }

    /// Such a command.
    pub(crate) fn command(&self, line: &str) -> Command {
        let replaced = |line: String, (from, to): &(&str, &str)| line.replace(from, to);
        shell(self.node, self.programs.path(), &self.places.iter().fold(line.to_owned(), replaced))
    }
}
