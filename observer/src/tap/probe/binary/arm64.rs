//! arm64 instructions, as far as they change the control flow or are in the prologue of a Go function.

use super::elf::Stretch;
use super::instruction::{Flow, Instruction, Registers};

/// Go's internal calling convention (Go, `src/cmd/compile/abi-internal.md`, 1.18 to 1.27): the argument registers that the probed
/// functions use, X0 to X5, and X28, which holds the goroutine. The bit of a register is its number.
pub(super) const GO_ARGUMENTS: Registers = Registers(0b11_1111 | 1 << 28);

/// The first four arguments of a C function (Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2).
pub(super) const C_ARGUMENTS: Registers = Registers(0b1111);

/// The result of a C function.
pub(super) const C_RESULT: Registers = Registers(1);

/// Decodes instructions (Arm Architecture Reference Manual DDI 0487, C4.1). Every one is treated as not emulated: Linux emulates branches
/// only, and each of them may be passed twice, or not with the result.
pub(super) fn decode(code: &Stretch) -> Vec<Instruction> {
    let words = code.bytes.chunks_exact(4).filter_map(<[u8]>::first_chunk).map(|word| u32::from_le_bytes(*word));
    let addresses = (code.address..).step_by(4);
    let decoded = words.zip(addresses).map(|(word, address)| Instruction {
        address,
        flow: arm64_flow(word, address),
        is_emulated: false,
        written: written(word),
        compares_canary: false,
    });
    decoded.collect()
}

/// The registers that the instruction may write. Loads and stores of other forms than that with an unsigned offset are treated as writing
/// all.
fn written(word: u32) -> Registers {
    let first = Registers(1 << (word & 0x1f));
    let is_computed = word & 0x1c00_0000 == 0x1000_0000 || word & 0x0e00_0000 == 0x0a00_0000;
    let is_loaded = word & 0x3f00_0000 == 0x3900_0000;
    if is_computed || is_loaded { first } else { Registers(u32::MAX) }
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
