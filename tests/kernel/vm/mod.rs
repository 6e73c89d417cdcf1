//! The probe in other kernels: each test boots one in a virtual machine, and runs `watchtap probe --check` and tests of this binary there. On
//! another architecture, it runs clients instead of tests.

mod boots;
mod expected;
mod foreign;
mod proofs;
mod results;
mod streams;
