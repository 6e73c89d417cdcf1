//! What must hold of the code of the shell that reads strangers' bytes: one file per target.
//!
//! As [`TARGETS`] of the core, `tests/fuzz/src/lib.rs`.

#[path = "../../src/tape.rs"]
mod tape;
#[path = "../../src/told.rs"]
mod told;

pub mod intake;
pub mod kubeconfig;

/// What checks one input; it panics where something does not hold.
pub type Check = fn(&[u8]);

/// Every target by its name, which its file in `fuzz_targets` and its folder of seeds have, too.
pub const TARGETS: &[(&str, Check)] = &[("intake", intake::check), ("kubeconfig", kubeconfig::check)];
