//! Tests of probe points in synthetic code, and of damaged headers.

use super::convention::CallValues;
use super::elf::Elf;
use super::error::BinaryError;
use super::function::Function;
use super::probe_point::{Execution, ProbePoint};
use super::probe_points;
use super::synthetic_elf::{CODE_ADDRESS, CODE_AT, program};

const GO_PROLOGUE: &[u8] =
    b"\x49\x3b\x66\x10\x76\x06\x55\x48\x89\xe5\x5d\xc3\x48\x89\x44\x24\x08\xe8\0\0\0\0\x48\x8b\x44\x24\x08\xeb\xe3";
/// `sub %fs:0x28,%rdx; jne 16; add $0x18,%rsp; ret; call`.
const STACK_PROTECTOR: &[u8] = b"\x64\x48\x2b\x14\x25\x28\0\0\0\x75\x05\x48\x83\xc4\x18\xc3\xe8\0\0\0\0";

#[test]
fn entry_probe_is_the_first_emulated_instruction_passed_once() {
    let rows: &[(&str, &[u8], u64, Execution)] = &[
        ("push behind the branch to morestack", GO_PROLOGUE, 6, Execution::Emulated),
        ("push at once", b"\x55\xc3", 0, Execution::Emulated),
        ("call with the arguments of the caller", b"\x48\x83\xec\x08\xe8\0\0\0\0\xc3", 4, Execution::Emulated),
        ("an argument is overwritten before push", b"\x31\xff\x55\xc3", 0, Execution::SingleStepped),
        ("push is in a loop", b"\x48\x89\xc0\x55\xff\xca\x75\xfb\xc3", 0, Execution::SingleStepped),
        ("jumps through a pointer may lead anywhere", b"\x48\x83\xec\x08\x55\xff\xe0", 0, Execution::SingleStepped),
        ("a return comes first", b"\xc3\x55", 0, Execution::SingleStepped),
    ];
    for (what, code, at, execution) in rows {
        let found = function(code, |function| function.entry(CallValues::CArguments)).unwrap();
        assert_eq!(found, ProbePoint { offset: CODE_AT + at, execution: *execution }, "{what}");
    }
}

#[test]
fn return_probe_is_placed_at_the_stack_protector_check() {
    let mut other_check = STACK_PROTECTOR.to_vec();
    other_check[5] = 0x30;
    let rows = [
        ("check of the canary", STACK_PROTECTOR, vec![(9, Execution::Emulated)]),
        ("branch that is no such check", &other_check, vec![(15, Execution::SingleStepped)]),
        ("nop before the return", &b"\x90\xc3"[..], vec![(0, Execution::Emulated)]),
        ("result is set behind the nop", &b"\x90\x31\xc0\xc3"[..], vec![(3, Execution::SingleStepped)]),
        ("nop is jumped over", &b"\x75\x01\x90\xc3"[..], vec![(3, Execution::SingleStepped)]),
        ("two returns", &b"\x75\x01\xc3\xc3"[..], vec![(2, Execution::SingleStepped), (3, Execution::SingleStepped)]),
    ];
    for (what, code, expected) in rows {
        let found = function(code, |function| function.returns_with(CallValues::CResult)).unwrap();
        let expected: Vec<_> = expected.into_iter().map(|(at, execution)| ProbePoint { offset: CODE_AT + at, execution }).collect();
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn function_with_unknown_returns_is_refused() {
    for (code, reason) in [(&b"\x75\x02\xff\xe0\xc3"[..], "jumps through a pointer"), (b"\x90\x90", "no return instruction")] {
        let error = function(code, Function::returns).unwrap_err().to_string();
        assert!(error.contains("cannot probe function:") && error.contains(reason), "{error}");
    }
}

#[test]
fn truncated_headers_are_refused() {
    let complete = program(GO_PROLOGUE);
    assert_eq!(probe_points(&complete).unwrap(), []);
    for length in 0..complete.len() {
        assert!(probe_points(&complete[..length]).is_err(), "{length} bytes of {} were read as a program", complete.len());
    }
}

#[test]
fn corrupted_headers_yield_an_error_or_no_probe_points() {
    let complete = program(GO_PROLOGUE);
    for at in 0..complete.len() {
        for mask in [0x01, 0x80, 0xff] {
            let mut damaged = complete.clone();
            damaged[at] ^= mask;
            assert!(
                probe_points(&damaged).is_ok_and(|found| found.is_empty()) || probe_points(&damaged).is_err(),
                "{at} {mask:#x}"
            );
        }
    }
}

fn function<T>(code: &[u8], asked: impl Fn(&Function) -> Result<T, BinaryError>) -> Result<T, BinaryError> {
    let file = program(code);
    let elf = Elf::parse((&file).into()).unwrap();
    let length = u64::try_from(code.len()).unwrap();
    asked(&Function::of_range(&elf, "function", CODE_ADDRESS, length).unwrap())
}
