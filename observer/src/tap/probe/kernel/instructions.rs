//! Changes instructions of the programs before they are loaded, where the kernel lacks a feature.
//!
//! The programs mark these places in inline assembly (`observer-ebpf/programs/calls.rs` and `atomics.rs`).

use aya_obj::generated::bpf_insn;
use observer_ebpf::COOKIE_MARK;

/// Codes of instructions, and a field of one (RFC 9669 §3 to §5).
const LOAD_IMMEDIATE: u8 = 0x18;
const MOVE_IMMEDIATE: u8 = 0xB7;
const MOVE_REGISTER: u8 = 0xBF;
const LOAD: u8 = 0x79;
const ATOMIC: u8 = 0xDB;
const ADD: i32 = 0x00;
const ADD_AND_FETCH: i32 = 0x01;

/// Whether a program reads the cookie of its place.
pub(super) fn reads_cookie(instructions: &[bpf_insn]) -> bool {
    instructions.windows(3).any(is_cookie)
}

/// Makes the cookie a constant, for kernels whose places have none.
pub(super) fn set_cookie(instructions: &mut [bpf_insn], cookie: u64) {
    for place in 0..instructions.len() {
        let Some([low, high, is_constant]) = instructions.get_mut(place..place + 3) else { return };
        if is_cookie(&[*low, *high, *is_constant]) {
            [low.imm, high.imm] = halves(cookie);
            is_constant.imm = 1;
        }
    }
}

/// Replaces additions that return the value before by a read and an addition that returns nothing, for kernels before 5.12.
pub(super) fn replace_fetches(instructions: &mut [bpf_insn]) {
    for place in 0..instructions.len() {
        let Some([copied, added]) = instructions.get_mut(place..place + 2) else { return };
        if copied.code != MOVE_REGISTER || added.code != ATOMIC || added.imm != ADD_AND_FETCH {
            continue;
        }
        let (by, number) = (copied.src_reg(), added.dst_reg());
        copied.code = LOAD;
        copied.set_src_reg(number);
        copied.off = added.off;
        added.imm = ADD;
        added.set_src_reg(by);
    }
}

/// A program that adds to a word of its stack and returns the value before, to try whether the kernel has this instruction.
pub(super) fn fetch_trial() -> [bpf_insn; 4] {
    // r0 = 0; *(u64 *)(r10 - 8) = r0; r0 = atomic_fetch_add((u64 *)(r10 - 8), r0); exit
    [
        instruction(MOVE_IMMEDIATE, 0, 0, 0, 0),
        instruction(0x7B, 10, 0, -8, 0),
        instruction(ATOMIC, 10, 0, -8, ADD_AND_FETCH),
        instruction(0x95, 0, 0, 0, 0),
    ]
}

/// A program that reads the cookie of its place.
pub(super) fn cookie_trial() -> [bpf_insn; 3] {
    /// `bpf_get_attach_cookie` of `include/uapi/linux/bpf.h`.
    const GET_ATTACH_COOKIE: i32 = 174;
    [instruction(0x85, 0, 0, 0, GET_ATTACH_COOKIE), instruction(MOVE_IMMEDIATE, 0, 0, 0, 0), instruction(0x95, 0, 0, 0, 0)]
}

/// A program that does nothing.
pub(super) fn empty_trial() -> [bpf_insn; 2] {
    [instruction(MOVE_IMMEDIATE, 0, 0, 0, 0), instruction(0x95, 0, 0, 0, 0)]
}

fn instruction(code: u8, to: u8, from: u8, off: i16, imm: i32) -> bpf_insn {
    let mut made = bpf_insn { code, _bitfield_align_1: [], _bitfield_1: bpf_insn::new_bitfield_1(to, from), off, imm };
    made.set_dst_reg(to);
    made
}

/// Whether these are the instructions that load the mark, of two words, and clear the flag after it.
fn is_cookie(instructions: &[bpf_insn]) -> bool {
    let [low, high, is_constant] = instructions else { return false };
    low.code == LOAD_IMMEDIATE
        && [low.imm, high.imm] == halves(COOKIE_MARK)
        && (is_constant.code, is_constant.imm) == (MOVE_IMMEDIATE, 0)
}

/// The lower and the upper half of a word, as two instructions have them.
fn halves(word: u64) -> [i32; 2] {
    [word, word >> 32].map(|word| u32::try_from(word & u64::from(u32::MAX)).unwrap_or_default().cast_signed())
}

#[cfg(test)]
mod tests {
    use aya_obj::{Object, ProgramSection};
    use observer_ebpf::OBJECT;

    use super::*;

    /// The instructions of all uprobe programs of the object, and of the functions that they call, by name.
    fn functions() -> Vec<(String, Vec<bpf_insn>)> {
        let object = Object::parse(OBJECT).unwrap();
        let uprobes: Vec<_> =
            object.programs.values().filter(|program| matches!(program.section, ProgramSection::UProbe { .. })).collect();
        let functions = uprobes.iter().map(|program| object.functions.get(&program.function_key()).unwrap());
        functions.map(|function| (function.name.clone(), function.instructions.clone())).collect()
    }

    #[test]
    fn cookie_becomes_a_constant_at_each_place() {
        let mut found = 0;
        for (name, mut instructions) in functions() {
            if !reads_cookie(&instructions) {
                assert_eq!(name, "go_encoded", "it alone needs no cookie");
                continue;
            }
            set_cookie(&mut instructions, 0x1122_3344_8566_7788);
            assert!(!reads_cookie(&instructions), "{name}");
            let is_set = |[low, high, set]: [&bpf_insn; 3]| {
                low.imm == 0x8566_7788_u32.cast_signed() && high.imm == 0x1122_3344 && set.imm == 1
            };
            found += instructions.windows(3).filter(|three| is_set([&three[0], &three[1], &three[2]])).count();
        }
        assert!(found >= 15, "{found}");
    }

    /// Without one, other threads would overwrite the stack of the program (`observer-ebpf/programs/thread_stack.rs`). The number of the
    /// helper is that of Linux `include/uapi/linux/bpf.h`.
    #[test]
    fn each_program_of_a_uprobe_has_a_tail_call() {
        const CALL: u8 = 0x85;
        const TAIL_CALL: i32 = 12;
        for (name, instructions) in functions() {
            let is_tail_call = |one: &bpf_insn| one.code == CALL && one.src_reg() == 0 && one.imm == TAIL_CALL;
            assert!(instructions.iter().any(is_tail_call), "{name}");
        }
    }

    #[test]
    fn no_addition_returns_a_value_after_the_replacement() {
        let fetches =
            |instructions: &[bpf_insn]| instructions.iter().filter(|one| one.code == ATOMIC && one.imm == ADD_AND_FETCH).count();
        let mut found = 0;
        for (name, mut instructions) in functions() {
            found += fetches(&instructions);
            replace_fetches(&mut instructions);
            assert_eq!(fetches(&instructions), 0, "{name}");
        }
        assert_eq!(found, 3, "one in each program that counts bytes");
    }

    #[test]
    fn replaced_addition_reads_before_it_adds() {
        let mut both = [instruction(MOVE_REGISTER, 2, 7, 0, 0), instruction(ATOMIC, 1, 2, 16, ADD_AND_FETCH)];
        replace_fetches(&mut both);
        let [read, add] = both;
        assert_eq!((read.code, read.dst_reg(), read.src_reg(), read.off), (LOAD, 2, 1, 16));
        assert_eq!((add.code, add.dst_reg(), add.src_reg(), add.off, add.imm), (ATOMIC, 1, 7, 16, ADD));
    }
}
