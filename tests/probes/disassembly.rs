//! Disassembles a function with objdump.

use std::process::Command;

use crate::program::{Program, Symbol};

/// Instructions with their file offsets, in code order.
pub(crate) struct Disassembly(Vec<(u64, String)>);

impl Disassembly {
    pub(crate) fn of(program: &Program, symbol: &Symbol) -> Self {
        let output = Command::new("objdump")
            .args(["--disassemble", "--no-show-raw-insn"])
            .arg(format!("--start-address={:#x}", symbol.addresses.start))
            .arg(format!("--stop-address={:#x}", symbol.addresses.end))
            .arg(&program.path)
            .output()
            .expect("objdump comes with the C compiler that links the programs");
        assert!(output.status.success(), "objdump {}: {}", program.path.display(), String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let instructions = text.lines().filter_map(|line| {
            let (address, instruction) = line.split_once(":\t")?;
            let address = u64::from_str_radix(address.trim(), 16).ok()?;
            Some((symbol.offset(address), instruction.trim().to_owned()))
        });
        Self(instructions.collect())
    }

    pub(crate) fn returns(&self) -> Vec<u64> {
        self.offsets_of(|instruction| instruction == "ret" || instruction == "repz ret")
    }

    pub(crate) fn offsets_of(&self, matches: impl Fn(&str) -> bool) -> Vec<u64> {
        self.0.iter().filter(|(_, instruction)| matches(instruction)).map(|(offset, _)| *offset).collect()
    }

    pub(crate) fn at(&self, offset: u64) -> &str {
        let found = self.0.iter().find(|(at, _)| *at == offset);
        found.map_or_else(|| panic!("no instruction begins at {offset:#x}"), |(_, instruction)| instruction)
    }

    /// The instructions before the one at `offset`.
    pub(crate) fn before(&self, offset: u64) -> impl Iterator<Item = &str> {
        self.0.iter().take_while(move |(at, _)| *at < offset).map(|(_, instruction)| instruction.as_str())
    }

    /// The instructions after the one at `offset`.
    pub(crate) fn after(&self, offset: u64) -> impl Iterator<Item = &str> {
        self.0.iter().skip_while(move |(at, _)| *at <= offset).map(|(_, instruction)| instruction.as_str())
    }
}
