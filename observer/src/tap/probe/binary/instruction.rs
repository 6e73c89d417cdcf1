//! The effects of an instruction that matter for the choice of a probe point, for any machine.

/// Where execution continues after an instruction. Targets are virtual addresses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flow {
    /// The next instruction.
    Next,
    /// The next instruction, or the target.
    Branch(u64),
    /// The target.
    Jump(u64),
    /// A computed address.
    JumpThroughPointer,
    /// The next instruction, after the called function has returned.
    Call,
    /// The caller.
    Return,
    /// Nowhere: a trap, or bytes that are no instruction.
    Stop,
}

/// A set of general-purpose registers, as bits. Each machine assigns the bits itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Registers(pub(super) u32);

impl Registers {
    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    pub(super) address: u64,
    pub(super) flow: Flow,
    /// Whether the kernel emulates it in the uprobe's trap.
    pub(super) is_emulated: bool,
    pub(super) written: Registers,
    /// Whether it compares with the stack protector's canary.
    pub(super) compares_canary: bool,
}
