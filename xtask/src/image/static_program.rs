//! Checks that a program needs no other file at run time, since an image from scratch has none.

use anyhow::{Context, ensure};

use crate::architecture::Architecture;

/// Type of the ELF segment that names the loader (`PT_INTERP`, elf(5)). A static program has none, even if it is
/// position-independent.
const INTERPRETER: u32 = 3;

/// Returns an error if `program` is not a 64-bit ELF program for `architecture`, or if it needs a loader.
pub(super) fn check(program: &[u8], architecture: Architecture) -> anyhow::Result<()> {
    let segments = Segments::read(program).context("the program's ELF header cannot be read")?;
    ensure!(segments.machine == architecture.elf_machine(), "the program is for another machine ({})", segments.machine);
    ensure!(!segments.types.contains(&INTERPRETER), "the program is not static: it needs a loader, which the image does not have");
    Ok(())
}

struct Segments {
    machine: u16,
    types: Vec<u32>,
}

impl Segments {
    fn read(program: &[u8]) -> Option<Self> {
        // 64-bit and little-endian.
        if program.get(..6)? != b"\x7fELF\x02\x01" {
            return None;
        }
        let table = usize::try_from(u64::from_le_bytes(bytes(program, 32)?)).ok()?;
        let size = usize::from(u16::from_le_bytes(bytes(program, 54)?));
        let count = usize::from(u16::from_le_bytes(bytes(program, 56)?));
        let type_at = |number: usize| Some(u32::from_le_bytes(bytes(program, table.checked_add(number * size)?)?));
        Some(Self { machine: u16::from_le_bytes(bytes(program, 18)?), types: (0..count).map(type_at).collect::<Option<_>>()? })
    }
}

fn bytes<const N: usize>(program: &[u8], at: usize) -> Option<[u8; N]> {
    program.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header for x86-64 with these segment types.
    fn program(types: &[u32]) -> Vec<u8> {
        let mut program = vec![0; 64];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        program[18] = 62;
        program[32] = 64;
        program[54] = 56;
        program[56] = u8::try_from(types.len()).unwrap();
        for segment in types {
            program.extend(segment.to_le_bytes());
            program.extend([0; 52]);
        }
        program
    }

    #[test]
    fn program_that_needs_a_loader_is_rejected() {
        check(&program(&[1, 2, 7]), Architecture::Amd64).unwrap();
        let error = check(&program(&[1, INTERPRETER]), Architecture::Amd64).unwrap_err();
        assert!(error.to_string().contains("needs a loader"), "{error}");
    }

    #[test]
    fn program_for_another_machine_is_rejected() {
        let error = check(&program(&[1]), Architecture::Arm64).unwrap_err();
        assert_eq!(error.to_string(), "the program is for another machine (62)");
    }

    #[test]
    fn cut_or_foreign_files_are_rejected() {
        for file in [&b"#!/bin/sh\n"[..], &program(&[1, 1])[..70], b""] {
            assert!(check(file, Architecture::Amd64).is_err());
        }
    }
}
