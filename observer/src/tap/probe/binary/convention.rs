//! The registers that hold the values of a call, by machine.

use super::elf::Machine;
use super::instruction::Registers;
use super::{arm64, x86};

/// Values of a call that a probe reads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum CallValues {
    /// The arguments of a Go function, and its goroutine.
    GoArguments,
    /// The first four arguments of a C function.
    CArguments,
    /// The result of a C function.
    CResult,
}

impl CallValues {
    /// The registers that hold them.
    pub(super) const fn registers(self, machine: Machine) -> Registers {
        match (machine, self) {
            (Machine::X86_64, Self::GoArguments) => x86::GO_ARGUMENTS,
            (Machine::X86_64, Self::CArguments) => x86::C_ARGUMENTS,
            (Machine::X86_64, Self::CResult) => x86::C_RESULT,
            (Machine::Arm64, Self::GoArguments) => arm64::GO_ARGUMENTS,
            (Machine::Arm64, Self::CArguments) => arm64::C_ARGUMENTS,
            (Machine::Arm64, Self::CResult) => arm64::C_RESULT,
        }
    }
}
