//! Damaged files give an error or fewer libraries, never a panic or a long search.

use std::path::Path;

use observer_tests::{GoLink, GoToolchain};
use watchtap::tap::probe::binary::probe_points;

/// Fixed, so that a failure is reproducible.
const SEED: u64 = 7;

#[test]
fn damaged_libssl_never_panics() {
    let library = Path::new("/usr/lib/x86_64-linux-gnu/libssl.so.3");
    if !library.exists() {
        return println!("left out: the system has no {}", library.display());
    }
    damage(&std::fs::read(library).unwrap(), 150);
}

#[test]
fn damaged_go_program_never_panics() {
    let toolchain = GoToolchain("go1.21.13");
    if !GoToolchain::any() || toolchain.missing().unwrap().is_some() {
        return println!("left out: {} cannot be had", toolchain.0);
    }
    for link in [GoLink::NATIVE[0], GoLink::NATIVE[3]] {
        damage(&std::fs::read(toolchain.twins(link).unwrap().stripped).unwrap(), 40);
    }
}

/// Truncates the file at `times` places, and corrupts bytes at as many: in the headers, which have offsets and counts, and
/// anywhere.
fn damage(complete: &[u8], times: usize) {
    let mut chance = fastrand::Rng::with_seed(SEED);
    for _ in 0..times {
        let cut = chance.usize(..complete.len());
        let found = probe_points(&complete[..cut]);
        assert!(found.is_err() || cut > complete.len() / 2, "half a file was read as a complete one: {found:?}");
    }
    let mut damaged = complete.to_vec();
    for turn in 0..times {
        let within = if turn % 2 == 0 { 1024 } else { complete.len() };
        let places = std::array::from_fn::<usize, 16, _>(|_| chance.usize(..within));
        let masks = places.map(|_| chance.u8(1..));
        places.iter().zip(masks).for_each(|(at, mask)| damaged[*at] ^= mask);
        // Either result is acceptable; the call must only return.
        drop(probe_points(&damaged));
        places.iter().zip(masks).for_each(|(at, mask)| damaged[*at] ^= mask);
    }
    assert_eq!(probe_points(&damaged).unwrap(), probe_points(complete).unwrap());
}
