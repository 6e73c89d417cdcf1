//! An allocator that counts what is in use, while it is asked to.
#![expect(unsafe_code, reason = "an allocator that counts cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Off while time is measured: counting would slow down most what allocates most, which is not ours.
static ON: AtomicBool = AtomicBool::new(false);
static IN_USE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// The most bytes that were in use at a time during `work`, beyond those before it. Nothing else may allocate meanwhile.
pub(crate) fn peak_during(work: impl FnOnce()) -> u64 {
    IN_USE.store(0, Ordering::Relaxed);
    PEAK.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    work();
    ON.store(false, Ordering::Relaxed);
    PEAK.load(Ordering::Relaxed).max(0).unsigned_abs() as u64
}

fn count(allocated: usize, freed: usize) {
    if ON.load(Ordering::Relaxed) {
        let more = allocated.cast_signed() - freed.cast_signed();
        let in_use = IN_USE.fetch_add(more, Ordering::Relaxed) + more;
        PEAK.fetch_max(in_use, Ordering::Relaxed);
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
