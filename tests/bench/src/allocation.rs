//! An allocator that counts what is in use, while it is asked to.
#![expect(unsafe_code, reason = "an allocator that counts cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Of one thread, so that tests beside each other do not count what is not theirs.
#[derive(Clone, Copy)]
struct Count {
    /// Off while time is measured: counting would slow down most what allocates most, which is not ours.
    on: bool,
    in_use: isize,
    peak: isize,
}

thread_local! {
    static COUNT: Cell<Count> = const { Cell::new(Count { on: false, in_use: 0, peak: 0 }) };
}

/// The most bytes that this thread had in use at a time during `work`, beyond those before it.
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

// SAFETY: every call is passed on to the system's allocator as it came, so its guarantees are ours.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`, and it is the same one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`, and it is the same one.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract of `realloc`, and it is the same one.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
