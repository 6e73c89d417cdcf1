//! Invariants of the shell's code that reads untrusted bytes: one file per target.
//!
//! Like [`TARGETS`] of the core, `tests/fuzz/src/lib.rs`.

#[path = "../../src/event_log.rs"]
mod event_log;
#[path = "../../src/tape.rs"]
mod tape;

pub mod admission;
pub mod attach;
pub mod inject;
pub mod intake;
pub mod kubeconfig;

/// Checks one input; panics if an invariant does not hold.
pub type Check = fn(&[u8]);

/// Every target by name. Its file in `fuzz_targets` and its folder of seeds have the same name.
pub const TARGETS: &[(&str, Check)] = &[
    ("admission", admission::check),
    ("attach", attach::check),
    ("inject", inject::check),
    ("intake", intake::check),
    ("kubeconfig", kubeconfig::check),
];
