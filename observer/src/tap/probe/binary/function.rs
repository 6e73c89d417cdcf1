//! The probe points of one function: a place that each call passes once with its arguments still in the registers, and the places
//! where it returns.

use std::collections::BTreeSet;

use super::convention::CallValues;
use super::elf::{Elf, Machine, Stretch};
use super::error::BinaryError;
use super::instruction::{Flow, Instruction, Registers};
use super::probe_point::{Execution, ProbePoint};
use super::{arm64, bounds, x86};

/// The instructions of one function, in the pieces that the linker made of it.
pub(super) struct Function {
    name: &'static str,
    address: u64,
    machine: Machine,
    parts: Vec<Part>,
}

struct Part {
    address: u64,
    offset: u64,
    instructions: Vec<Instruction>,
}

impl Function {
    /// The function whose code is exactly the `length` bytes from `address` on.
    pub(super) fn of_range(elf: &Elf<'_>, name: &'static str, address: u64, length: u64) -> Result<Self, BinaryError> {
        let code = code(elf, name, address, length)?;
        Ok(Self { name, address, machine: elf.machine, parts: vec![Part::of(elf, &code)] })
    }

    /// The function at `address`, with every piece that it jumps to. `extent` gives the start and end of the piece at an address.
    pub(super) fn with_jumps(
        elf: &Elf<'_>,
        name: &'static str,
        address: u64,
        extent: impl Fn(u64) -> Option<(u64, u64)>,
    ) -> Result<Self, BinaryError> {
        let mut function = Self { name, address, machine: elf.machine, parts: Vec::new() };
        let mut wanted = vec![address];
        while let Some(target) = wanted.pop() {
            if function.parts.iter().any(|part| part.contains(target)) {
                continue;
            }
            if function.parts.len() == bounds::FUNCTION_PARTS {
                return Err(function.refuse("it is in too many pieces"));
            }
            let (start, end) =
                extent(target).ok_or_else(|| function.refuse("where a piece that it jumps to ends is written nowhere"))?;
            let part = Part::of(elf, &code(elf, name, start, end.saturating_sub(start))?);
            wanted.extend(part.jumps().filter(|jump| !part.contains(*jump)));
            function.parts.push(part);
        }
        Ok(function)
    }

    /// Returns the first instruction that the kernel emulates, that each call passes exactly once, and before which `arguments` are
    /// not overwritten. If there is none, returns the branch to Go's `morestack` if the kernel emulates it, otherwise the instruction
    /// after it. Without such a branch, returns the entry.
    ///
    /// The walk goes straight ahead from the entry. It stops at a jump target, which a call may pass twice, and after a conditional
    /// branch, since the code after it may be skipped. It does not stop after the branch to Go's `morestack`. That path only grows
    /// the stack and starts again at the entry. So a call may hit a probe at the entry, or at this branch, twice.
    pub(super) fn entry(&self, arguments: CallValues) -> Result<ProbePoint, BinaryError> {
        let arguments = arguments.registers(self.machine);
        let part = self.first_part()?;
        let entry = part.point(self.address, Execution::SingleStepped);
        let has_unknown_jumps = self.instructions().any(|instruction| instruction.flow == Flow::JumpThroughPointer);
        let targets = self.targets();
        let (mut restarting, mut follows_restart, mut after_restart) = (None, false, None);
        for instruction in part.from(self.address) {
            let is_entry = instruction.address == self.address;
            if !is_entry && (has_unknown_jumps || targets.contains(&instruction.address)) {
                break;
            }
            if follows_restart {
                after_restart = Some(part.point(instruction.address, Execution::SingleStepped));
            }
            follows_restart = matches!(instruction.flow, Flow::Branch(target) if self.restarts(target));
            let emulated = instruction.is_emulated.then(|| part.point(instruction.address, Execution::Emulated));
            match instruction.flow {
                Flow::Branch(_) if follows_restart => restarting = restarting.or(emulated),
                Flow::Next if emulated.is_none() && !instruction.written.meets(arguments) => {}
                Flow::Next | Flow::Branch(_) | Flow::Jump(_) | Flow::Call => {
                    return Ok(emulated.or(restarting).or(after_restart).unwrap_or(entry));
                }
                Flow::JumpThroughPointer | Flow::Return | Flow::Stop => break,
            }
        }
        Ok(restarting.or(after_restart).unwrap_or(entry))
    }

    /// Every return instruction.
    pub(super) fn returns(&self) -> Result<Vec<ProbePoint>, BinaryError> {
        self.returns_by(|part, at| part.instructions.get(at).map(|found| part.point(found.address, Execution::SingleStepped)))
    }

    /// Finds a place for each return instruction. A call passes the place if and only if it passes the return, and `result` is
    /// final there. The place is an instruction that the kernel emulates, or the return itself if there is none.
    ///
    /// The walk goes back over instructions that only lead to the next one, as long as no jump leads in between. The only branch
    /// that it accepts is that of the stack protector, whose target does not return.
    pub(super) fn returns_with(&self, result: CallValues) -> Result<Vec<ProbePoint>, BinaryError> {
        let result = result.registers(self.machine);
        let targets = self.targets();
        self.returns_by(|part, at| {
            let own = part.instructions.get(at).map(|found| part.point(found.address, Execution::SingleStepped));
            emulated_before(part, at, result, &targets).or(own)
        })
    }

    fn returns_by(&self, point: impl Fn(&Part, usize) -> Option<ProbePoint>) -> Result<Vec<ProbePoint>, BinaryError> {
        if self.instructions().any(|instruction| instruction.flow == Flow::JumpThroughPointer) {
            return Err(self.refuse("it jumps through a pointer, so not all places that it returns from are known"));
        }
        let returns = self.parts.iter().flat_map(|part| {
            let at = part.instructions.iter().enumerate().filter(|(_, instruction)| instruction.flow == Flow::Return);
            at.filter_map(|(at, _)| point(part, at)).collect::<Vec<_>>()
        });
        let points: BTreeSet<ProbePoint> = returns.collect();
        if points.is_empty() {
            return Err(self.refuse("it has no return instruction"));
        }
        Ok(points.into_iter().collect())
    }

    /// Whether the code at `target` only saves registers, calls one function, restores them and jumps to the entry.
    fn restarts(&self, target: u64) -> bool {
        const LONGEST: usize = 32;
        let Some(part) = self.parts.iter().find(|part| part.contains(target)) else { return false };
        let mut calls = 0;
        for instruction in part.from(target).take(LONGEST) {
            match instruction.flow {
                Flow::Next => {}
                Flow::Call => calls += 1,
                Flow::Jump(to) => return to == self.address && calls == 1,
                Flow::Branch(_) | Flow::JumpThroughPointer | Flow::Return | Flow::Stop => return false,
            }
        }
        false
    }

    fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.parts.iter().flat_map(|part| &part.instructions)
    }

    fn targets(&self) -> BTreeSet<u64> {
        self.parts.iter().flat_map(Part::jumps).collect()
    }

    fn first_part(&self) -> Result<&Part, BinaryError> {
        self.parts.iter().find(|part| part.contains(self.address)).ok_or_else(|| self.refuse("it has no code"))
    }

    fn refuse(&self, reason: &'static str) -> BinaryError {
        BinaryError::Function { function: self.name, reason }
    }
}

impl Part {
    fn of(elf: &Elf<'_>, code: &Stretch) -> Self {
        Self { address: code.address, offset: code.offset, instructions: decode(elf.machine, code) }
    }

    fn contains(&self, address: u64) -> bool {
        self.instructions.binary_search_by_key(&address, |instruction| instruction.address).is_ok()
    }

    fn from(&self, address: u64) -> impl Iterator<Item = &Instruction> {
        self.instructions.iter().skip_while(move |instruction| instruction.address < address)
    }

    fn jumps(&self) -> impl Iterator<Item = u64> {
        self.instructions.iter().filter_map(|instruction| match instruction.flow {
            Flow::Branch(target) | Flow::Jump(target) => Some(target),
            Flow::Next | Flow::JumpThroughPointer | Flow::Call | Flow::Return | Flow::Stop => None,
        })
    }

    fn point(&self, address: u64, execution: Execution) -> ProbePoint {
        ProbePoint { offset: self.offset.saturating_add(address.saturating_sub(self.address)), execution }
    }
}

/// All instructions of a stretch of code, in order.
///
/// On these machines, neither Go nor the C compilers put tables between the instructions of a function. Padding decodes to `nop`
/// and traps.
fn decode(machine: Machine, code: &Stretch) -> Vec<Instruction> {
    match machine {
        Machine::X86_64 => x86::decode(code),
        Machine::Arm64 => arm64::decode(code),
    }
}

fn emulated_before(part: &Part, at: usize, result: Registers, targets: &BTreeSet<u64>) -> Option<ProbePoint> {
    let before = part.instructions.get(..=at)?;
    for pair in before.windows(2).rev() {
        let [earlier, later] = pair else { return None };
        let is_joined = targets.contains(&later.address);
        if is_joined || earlier.written.meets(result) {
            return None;
        }
        let emulated = earlier.is_emulated.then(|| part.point(earlier.address, Execution::Emulated));
        match earlier.flow {
            Flow::Next if emulated.is_some() => return emulated,
            Flow::Next => {}
            Flow::Branch(_) => return emulated.filter(|_| follows_canary(part, earlier.address)),
            Flow::Jump(_) | Flow::JumpThroughPointer | Flow::Call | Flow::Return | Flow::Stop => return None,
        }
    }
    None
}

fn follows_canary(part: &Part, branch: u64) -> bool {
    part.instructions.windows(2).any(|pair| matches!(pair, [first, second] if second.address == branch && first.compares_canary))
}

fn code(elf: &Elf<'_>, function: &'static str, address: u64, length: u64) -> Result<Stretch, BinaryError> {
    if length == 0 || length > bounds::FUNCTION_BYTES {
        return Err(BinaryError::Function { function, reason: "its length is not that of a function" });
    }
    let code = elf.code(address).and_then(|code| elf.read(code.first(length)?));
    code.ok_or(BinaryError::Function { function, reason: "it does not lie in the code that the file has" })
}
