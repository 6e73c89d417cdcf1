//! The effects of an instruction that matter for the choice of a probe point, for any machine.

use super::elf::{Machine, Stretch};
use super::x86;

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

/// All instructions of a stretch of code, in order.
///
/// On these machines, neither Go nor the C compilers put tables between the instructions of a function. Padding decodes to `nop`
/// and traps.
pub(super) fn decode(machine: Machine, code: Stretch<'_>) -> Vec<Instruction> {
    match machine {
        Machine::X86_64 => x86::decode(code),
        Machine::Arm64 => decode_arm64(code),
    }
}

/// Decodes control flow only (Arm Architecture Reference Manual DDI 0487, C4.1). No instruction counts as emulated and each writes
/// every register, so that only the entry and the returns are chosen.
fn decode_arm64(code: Stretch<'_>) -> Vec<Instruction> {
    let words = code.bytes.chunks_exact(4).filter_map(<[u8]>::first_chunk).map(|word| u32::from_le_bytes(*word));
    let addresses = (code.address..).step_by(4);
    let decoded = words.zip(addresses).map(|(word, address)| Instruction {
        address,
        flow: arm64_flow(word, address),
        is_emulated: false,
        written: Registers(u32::MAX),
        compares_canary: false,
    });
    decoded.collect()
}

fn arm64_flow(word: u32, address: u64) -> Flow {
    const RET_X30: u32 = 0xd65f_03c0;
    const RETAA: u32 = 0xd65f_0bff;
    const RETAB: u32 = 0xd65f_0fff;
    let target = |bits: u32, shift: u32| {
        let field = (word >> shift) & (u32::MAX >> (32 - bits));
        let unused = 32 - bits;
        let words = (field << unused).cast_signed() >> unused;
        address.wrapping_add_signed(i64::from(words) * 4)
    };
    match word {
        RET_X30 | RETAA | RETAB => Flow::Return,
        _ if word & 0xfc00_0000 == 0x1400_0000 => Flow::Jump(target(26, 0)),
        _ if word & 0xfc00_0000 == 0x9400_0000 => Flow::Call,
        _ if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 => Flow::Branch(target(19, 5)),
        _ if word & 0x7e00_0000 == 0x3600_0000 => Flow::Branch(target(14, 5)),
        _ if word & 0xfe00_0000 == 0xd600_0000 && (word >> 21) & 3 == 1 => Flow::Call,
        _ if word & 0xfe00_0000 == 0xd600_0000 => Flow::JumpThroughPointer,
        _ if word & 0xffff_0000 == 0 || word & 0xffe0_001f == 0xd420_0000 => Flow::Stop,
        _ => Flow::Next,
    }
}
