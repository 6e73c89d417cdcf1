//! A place for a uprobe in a file, and the cost of a hit there.

/// One instruction of a file, which a uprobe can replace.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ProbePoint {
    /// Offset in the file, in bytes, as `perf_event_open(2)` and `uprobe_multi` links take it.
    pub offset: u64,
    /// The cost of a hit.
    pub execution: Execution,
}

/// How the kernel runs the instruction that a uprobe replaced.
///
/// On x86-64 it emulates relative branches and calls, one-byte `nop`, and `push` of a register (Linux, `arch/x86/kernel/uprobes.c`,
/// `branch_setup_xol_ops` and `push_setup_xol_ops`, 6.12). Later kernels emulate more. On arm64 all places count as single-stepped, although
/// it emulates branches and returns there, too (`arch/arm64/kernel/probes/decode-insn.c`).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Execution {
    /// The kernel emulates it in the trap itself.
    Emulated,
    /// It runs out of line with a second trap, at 2 to 30 times the cost of [`Execution::Emulated`].
    SingleStepped,
}
