//! The invariants of the fuzz targets hold for their seeds and for inputs that fuzzing found.

#![allow(unreachable_pub, reason = "the files of invariants are those of libraries")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may unwrap")]
#![allow(clippy::print_stdout, reason = "the last seed that is named is the one that fails")]
#![allow(clippy::duplicate_mod, reason = "both packages have the form of a tape and what was told of it")]

#[path = "../fuzz/src/lib.rs"]
mod core_targets;
#[path = "../fuzz/shell/src/lib.rs"]
mod shell_targets;

use std::fs;
use std::path::{Path, PathBuf};

use core_targets::Check;

#[test]
fn every_target_holds_its_invariants_on_every_seed() {
    for (target, check) in targets() {
        replay(target, check);
    }
}

#[test]
fn every_seed_folder_belongs_to_a_target() {
    let names: Vec<&str> = targets().map(|(name, _)| name).collect();
    for folder in entries(&seeds()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(names.contains(&name), "nothing replays {}", folder.display());
    }
}

fn targets() -> impl Iterator<Item = (&'static str, Check)> {
    core_targets::TARGETS.iter().chain(shell_targets::TARGETS).copied()
}

#[track_caller]
fn replay(target: &str, check: Check) {
    let folder = seeds().join(target);
    let seeds = entries(&folder);
    assert!(!seeds.is_empty(), "the seeds are gone from {}", folder.display());
    for seed in seeds {
        println!("{}", seed.display());
        check(&fs::read(&seed).unwrap());
    }
}

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}
