//! x86-64 instructions, through `iced-x86`.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction as Decoded, InstructionInfoFactory, InstructionInfoOptions, OpAccess,
    Register,
};

use super::elf::Stretch;
use super::instruction::{Flow, Instruction, Registers};

/// Where glibc and musl keep the canary of the stack protector: `%fs:0x28`.
const CANARY: u64 = 0x28;

/// Go's internal calling convention (Go, `src/cmd/compile/abi-internal.md`, 1.18 to 1.27): the argument registers that the probed
/// functions use, and R14, which holds the goroutine.
pub(super) const GO_ARGUMENTS: Registers =
    of(&[Register::RAX, Register::RBX, Register::RCX, Register::RDI, Register::RSI, Register::R8, Register::R14]);

/// The first four arguments of a C function (System V ABI for AMD64, 3.2.3).
pub(super) const C_ARGUMENTS: Registers = of(&[Register::RDI, Register::RSI, Register::RDX, Register::RCX]);

/// The result of a C function.
pub(super) const C_RESULT: Registers = of(&[Register::RAX]);

pub(super) fn decode(code: &Stretch) -> Vec<Instruction> {
    let mut effects = InstructionInfoFactory::new();
    let decoder = Decoder::with_ip(64, &code.bytes, code.address, DecoderOptions::NONE);
    decoder.into_iter().map(|decoded| instruction(&decoded, &mut effects)).collect()
}

fn instruction(decoded: &Decoded, effects: &mut InstructionInfoFactory) -> Instruction {
    Instruction {
        address: decoded.ip(),
        flow: flow(decoded),
        is_emulated: is_emulated(decoded),
        written: written(decoded, effects),
        compares_canary: decoded.segment_prefix() == Register::FS && decoded.memory_displacement64() == CANARY,
    }
}

fn flow(decoded: &Decoded) -> Flow {
    match decoded.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump(decoded.near_branch_target()),
        FlowControl::IndirectBranch => Flow::JumpThroughPointer,
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => Flow::Branch(decoded.near_branch_target()),
        FlowControl::Return => Flow::Return,
        FlowControl::Call | FlowControl::IndirectCall => Flow::Call,
        FlowControl::Interrupt if decoded.code() != Code::Int3 => Flow::Call,
        FlowControl::Interrupt | FlowControl::Exception => Flow::Stop,
    }
}

/// Whether Linux emulates the instruction under a uprobe; see [`Execution`](super::probe_point::Execution).
fn is_emulated(decoded: &Decoded) -> bool {
    let is_push = matches!(decoded.code(), Code::Push_r64) && decoded.len() <= 2;
    let is_branch = decoded.is_jcc_short_or_near() || decoded.is_jmp_short_or_near() || decoded.code() == Code::Call_rel32_64;
    let is_nop = decoded.code() == Code::Nopd && decoded.len() == 1;
    is_push || is_branch || is_nop
}

fn written(decoded: &Decoded, effects: &mut InstructionInfoFactory) -> Registers {
    let used = effects.info_options(decoded, InstructionInfoOptions::NO_MEMORY_USAGE).used_registers();
    let written = used
        .iter()
        .filter(|used| !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess | OpAccess::None));
    written.fold(Registers::default(), |all, used| Registers(all.0 | bit(used.register().full_register()).0))
}

const fn of(registers: &[Register]) -> Registers {
    let mut all = 0;
    let mut rest = registers;
    while let [first, others @ ..] = rest {
        all |= bit(*first).0;
        rest = others;
    }
    Registers(all)
}

/// A register that never holds an argument or a result has no bit.
#[expect(clippy::wildcard_enum_match_arm, reason = "there are hundreds of registers")]
const fn bit(register: Register) -> Registers {
    Registers(match register {
        Register::RAX => 1,
        Register::RCX => 1 << 1,
        Register::RDX => 1 << 2,
        Register::RBX => 1 << 3,
        Register::RSI => 1 << 4,
        Register::RDI => 1 << 5,
        Register::R8 => 1 << 6,
        Register::R9 => 1 << 7,
        Register::R14 => 1 << 8,
        _ => 0,
    })
}
