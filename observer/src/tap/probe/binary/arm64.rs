//! arm64 instructions, as far as they change the control flow.

use super::elf::Stretch;
use super::instruction::{Flow, Instruction, Registers};

/// Decodes control flow only (Arm Architecture Reference Manual DDI 0487, C4.1). Every instruction is treated as not emulated, and as
/// writing every register. So only the entry and the returns are chosen as probe points.
pub(super) fn decode(code: &Stretch) -> Vec<Instruction> {
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
