//! Checks that the canary runs use all commands and flags, and that the list of outputs names all runs.

use watchtap::cli::command_line;

use super::outputs::{ELSEWHERE, NO_OUTPUT, OUTPUTS};
use super::runs;
use super::secrets::PLACES;

/// The sources that contain canaries.
const SOURCES: &[&str] = &[
    include_str!("bodies.rs"),
    include_str!("commands.rs"),
    include_str!("debug_output.rs"),
    include_str!("exported.rs"),
    include_str!("given.rs"),
    include_str!("http1.rs"),
    include_str!("http2.rs"),
    include_str!("malformed.rs"),
    include_str!("secrets.rs"),
];

#[test]
fn every_command_and_flag_is_covered_by_a_run() {
    let mut missing = Vec::new();
    let line = command_line();
    for subcommand in line.get_subcommands() {
        let name = subcommand.get_name();
        if ELSEWHERE.iter().any(|(command, _)| *command == name) {
            continue;
        }
        let of_it: Vec<_> = runs::all().filter(|run| run.arguments.first() == Some(&name)).collect();
        if of_it.is_empty() {
            missing.push(format!("watchtap {name}: no run in tests/it/canary/runs.rs"));
        }
        for flag in subcommand.get_arguments().filter_map(|argument| argument.get_long()) {
            let is_used = of_it.iter().any(|run| run.arguments.contains(&&*format!("--{flag}")));
            if !is_used && !NO_OUTPUT.iter().any(|(name, _)| *name == flag) {
                missing.push(format!(
                    "watchtap {name} --{flag}: use it in a run of tests/it/canary/runs.rs, or, if nothing that it makes can show what came \
                     through watchtap, say why in NO_OUTPUT of tests/it/canary/outputs.rs"
                ));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn every_output_names_existing_runs() {
    for (file, runs, what) in OUTPUTS {
        for name in *runs {
            assert!(runs::all().any(|run| run.name == *name), "{file} ({what}) is left to a run `{name}`, which there is not");
        }
    }
}

#[test]
fn every_canary_is_placed_in_some_input() {
    let sources = SOURCES.concat();
    let put_in = |place: &str| sources.matches(&format!("\"{place}\"")).count() > 1;
    let unused: Vec<&&str> = PLACES.iter().filter(|place| !put_in(place)).collect();
    assert!(unused.is_empty(), "sought and never put in: {unused:?}");
}
