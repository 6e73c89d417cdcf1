//! The memory of the decoder of list bodies, counted at the allocator.
#![expect(unsafe_code, reason = "an allocator that counts cannot be written without")]
#![expect(clippy::unwrap_used, reason = "helpers of a test may unwrap")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use observer_core::wire::{BodyKind, BodyReader, Fact};

const MEGABYTE: usize = 1_000_000;

/// A long list may not cost so much more than a short one.
const TOLERANCE: usize = 256 * 1024;

// One test only: a second one in another thread would be counted, too.
#[test]
fn peak_memory_does_not_grow_with_the_list() {
    // Inflating is slow without optimisation, and its memory does not depend on what comes after it.
    for (coding, megabytes) in [(Coding::Plain, 200), (Coding::Gzip, 10)] {
        let (short, long) = (peak_while_reading(5 * MEGABYTE, coding), peak_while_reading(megabytes * MEGABYTE, coding));
        assert!(long.abs_diff(short) < TOLERANCE, "{coding:?}: {short} bytes for 5 MB, {long} for {megabytes} MB");
        assert!(long < TOLERANCE, "{coding:?}: {long} bytes");
    }
}

#[derive(Clone, Copy, Debug)]
enum Coding {
    Plain,
    /// Each item is a member of its own.
    Gzip,
}

/// Reads a list of at least `size` bytes, made while it is read; the most bytes that were allocated at a time.
#[track_caller]
fn peak_while_reading(size: usize, coding: Coding) -> usize {
    let padding = r#"{\"a\":[1,2]} "#.repeat(500);
    let item = format!(
        r#"{{"metadata":{{"name":"web","namespace":"shop","uid":"u","resourceVersion":"7"}},"spec":{{"text":"{padding}"}}}}"#
    );
    let count = size.div_ceil(item.len());
    let [first, next, end] = [
        format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{item}"#),
        format!(",{item}"),
        "]}\n".to_owned(),
    ]
    .map(|part| coding.encode(part.as_bytes()));

    let before = reset_peak();
    let mut reader = BodyReader::new(BodyKind::Document, "application/json", coding.name()).unwrap();
    let (mut items, mut complete) = (0, false);
    let mut note = |fact| match fact {
        Fact::Item(_) => items += 1,
        Fact::Complete => complete = true,
        Fact::Malformed { at, what } => panic!("{what} at {at}"),
        Fact::Kind { .. } | Fact::ListMeta(_) | Fact::Object(_) | Fact::Frame(_) | Fact::Status(_) => {}
    };
    reader.push(&first, &mut note);
    (1..count).for_each(|_| reader.push(&next, &mut note));
    reader.push(&end, &mut note);
    reader.finish(&mut note);
    assert!(complete && items == count, "{items} of {count} items");
    PEAK.load(Ordering::Relaxed) - before
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Gzip => "gzip",
        }
    }

    fn encode(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Plain => bytes.to_vec(),
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
        }
    }
}

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Begins a new peak; the bytes that are allocated now.
fn reset_peak() -> usize {
    let now = NOW.load(Ordering::Relaxed);
    PEAK.store(now, Ordering::Relaxed);
    now
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`, which is the same there.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `pointer` comes from `alloc` above, so from the system's allocator.
        unsafe { System.dealloc(pointer, layout) };
    }
}
