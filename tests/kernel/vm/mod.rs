//! The probe in other kernels: each test boots one in a virtual machine, and runs `watchtap probe --check` and tests of this binary there.

mod boots;
mod expected;
mod proofs;
mod results;
