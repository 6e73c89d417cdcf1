//! The seeds of the fuzz targets hold their invariants.

#[path = "../fuzz/src/capture_invariants.rs"]
mod capture_invariants;
#[path = "../fuzz/src/http_invariants.rs"]
mod http_invariants;
#[path = "../fuzz/src/wire_invariants.rs"]
mod wire_invariants;

use std::fs;
use std::path::Path;

#[test]
fn reader_of_captures_holds_its_invariants_on_every_seed() {
    replay("capture", capture_invariants::check);
}

#[test]
fn http_decoder_holds_its_invariants_on_every_seed() {
    replay("http", http_invariants::check);
}

#[test]
fn body_reader_holds_its_invariants_on_every_seed() {
    replay("wire", wire_invariants::check);
}

#[track_caller]
fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let seeds: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(seeds.len() >= 7, "the seeds are gone from {}", folder.display());
    for seed in seeds {
        check(&fs::read(&seed).unwrap());
    }
}
