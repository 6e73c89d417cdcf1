//! The registers of the process at a probe, by the architecture of the machine.
//!
//! Everything else in the programs is independent of the architecture. The architecture is that of the object
//! (`bpf_target_arch`), and there is one object for each.

use aya_ebpf::bindings::pt_regs;
use aya_ebpf::programs::ProbeContext;

/// The registers at a probe.
#[derive(Clone, Copy)]
pub(crate) struct Registers<'c>(&'c pt_regs);

impl<'c> Registers<'c> {
    #[inline(always)]
    pub(crate) fn of(context: &'c ProbeContext) -> Self {
        // SAFETY: the kernel gives the registers of the process, for as long as the program runs.
        Self(unsafe { &*context.regs })
    }
}

/// x86-64: System V ABI for AMD64, 3.2.3, and Go's `src/cmd/compile/abi-internal.md`, go1.26.
#[cfg(bpf_target_arch = "x86_64")]
impl Registers<'_> {
    /// An argument of a Go function, of the first five words.
    #[inline(always)]
    pub(crate) fn go_argument(self, word: usize) -> u64 {
        let Self(registers) = self;
        [registers.rax, registers.rbx, registers.rcx, registers.rdi, registers.rsi][word]
    }

    /// The address of the goroutine's `runtime.g`, in a Go function.
    #[inline(always)]
    pub(crate) fn goroutine(self) -> u64 {
        self.0.r14
    }

    /// An argument of a C function, of the first four.
    #[inline(always)]
    pub(crate) fn c_argument(self, number: usize) -> u64 {
        let Self(registers) = self;
        [registers.rdi, registers.rsi, registers.rdx, registers.rcx][number]
    }

    /// The result of a C function, or the first word of that of a Go function.
    #[inline(always)]
    pub(crate) fn result(self) -> u64 {
        self.0.rax
    }

    /// The stack pointer. At the entry and at the return of a function it points to the return address.
    #[inline(always)]
    pub(crate) fn stack(self) -> u64 {
        self.0.rsp
    }
}

/// arm64: Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2, and Go's `src/cmd/compile/abi-internal.md`, go1.26. Both
/// pass arguments and results in X0, X1, …
#[cfg(bpf_target_arch = "aarch64")]
impl Registers<'_> {
    /// An argument of a Go function, of the first five words.
    #[inline(always)]
    pub(crate) fn go_argument(self, word: usize) -> u64 {
        self.0.regs[word]
    }

    /// The address of the goroutine's `runtime.g`, in a Go function.
    #[inline(always)]
    pub(crate) fn goroutine(self) -> u64 {
        self.0.regs[28]
    }

    /// An argument of a C function, of the first four.
    #[inline(always)]
    pub(crate) fn c_argument(self, number: usize) -> u64 {
        self.0.regs[number]
    }

    /// The result of a C function, or the first word of that of a Go function.
    #[inline(always)]
    pub(crate) fn result(self) -> u64 {
        self.0.regs[0]
    }

    /// The stack pointer. At the entry and at the return of a function it has the same value. In Go, the caller has its own return
    /// address there, and its arguments for the function behind it: as on x86-64, from eight bytes above on.
    #[inline(always)]
    pub(crate) fn stack(self) -> u64 {
        self.0.sp
    }
}
