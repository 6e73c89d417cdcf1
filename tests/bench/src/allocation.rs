//! An allocator that counts the memory in use, while counting is enabled.
#![expect(unsafe_code, reason = "an allocator that counts cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, with counting.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Per thread, so that parallel tests do not affect each other.
#[derive(Clone, Copy)]
struct Count {
    /// Disabled while time is measured: counting would slow down the code that allocates most, which is that of the references.
    on: bool,
    in_use: isize,
    peak: isize,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { on: false, in_use: 0, peak: 0 }) };
}

/// The peak number of bytes that this thread had in use during `work`, in addition to those before it.
pub(crate) fn peak_during(work: impl FnOnce()) -> u64 {
    COUNT.set(Count { on: true, in_use: 0, peak: 0 });
    work();
    let counted = COUNT.replace(Count { on: false, in_use: 0, peak: 0 });
    counted.peak.max(0).unsigned_abs() as u64
}

fn count(allocated: usize, freed: usize) {
    let before = COUNT.get();
    if before.on {
        let in_use = before.in_use + (allocated.cast_signed() - freed.cast_signed());
        COUNT.set(Count { in_use, peak: before.peak.max(in_use), ..before });
    }
}

// SAFETY: every call goes to the system's allocator unchanged, so its guarantees hold here.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller upholds the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller upholds the contract of `dealloc`, which is the same here.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller upholds the contract of `realloc`, which is the same here.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
