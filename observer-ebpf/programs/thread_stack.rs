//! Keeps a program of a uprobe on the kernel stack of its thread.
//!
//! From Linux 6.13 on, a program of type `BPF_PROG_TYPE_KPROBE` with a larger stack gets a private one for each processor. All runs of
//! the program on the processor use it. For a kprobe, the kernel allows no second run meanwhile. For a uprobe it does: a preemptible
//! kernel may preempt the program, and then run it for another thread, which overwrites the stack of the first one. A program with a
//! tail call gets no private stack (Linux `kernel/bpf/verifier.c`, `check_max_stack_depth` and `bpf_enable_priv_stack`;
//! `kernel/trace/bpf_trace.c`, `uprobe_prog_run`; v6.18).

use core::arch::asm;

use aya_ebpf::programs::ProbeContext;

use crate::maps::NO_PROGRAMS;

/// Has a tail call that is never executed. The verifier knows that, too, and removes it after it has chosen the stack.
#[inline(always)]
pub(crate) fn keep(context: &ProbeContext) {
    let is_executed: u64;
    // SAFETY: the instruction only loads a constant.
    unsafe { asm!("{is_executed} = 0", is_executed = out(reg) is_executed, options(nomem, nostack, preserves_flags)) };
    if is_executed != 0 {
        // SAFETY: the context is the one from the kernel. If it were executed, it would find no program and return.
        let _no_program = unsafe { NO_PROGRAMS.tail_call(context, 0) };
    }
}
