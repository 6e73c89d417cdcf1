//! Memory of the body decoder and of label sets, counted at the allocator.
#![expect(unsafe_code, reason = "an allocator that counts cannot be written without")]
#![expect(clippy::unwrap_used, reason = "helpers of a test may unwrap")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use observer_core::observer::{Limits, Observer};
use observer_core::series::SeriesLimits;
use observer_core::wire::{BodyKind, BodyReader, Fact};

const MEGABYTE: usize = 1_000_000;

/// Maximum number of bytes of the peak for a long list, and of its difference from the peak for a short list.
const TOLERANCE: usize = 256 * 1024;

/// Maximum number of bytes that a watch keeps between two events.
const IDLE: usize = 2 * 1024;

/// Maximum number of bytes of all label sets.
const LABEL_SETS: usize = 4 << 20;

// One test only, because the counters include the allocations of all threads.
#[test]
fn memory_grows_neither_with_the_list_nor_with_idle_watches_nor_with_clients() {
    // Inflating is slow without optimisation, and its memory does not depend on the decoder after it, so 10 MB are enough.
    for (coding, megabytes) in [(Coding::Plain, 200), (Coding::Gzip, 10)] {
        for encoding in [Encoding::Json, Encoding::Protobuf, Encoding::Cbor] {
            let peak = |megabytes| peak_while_reading(megabytes * MEGABYTE, encoding, coding);
            let (short, long) = (peak(5), peak(megabytes));
            let what = format!("{encoding:?} {coding:?}: {short} bytes for 5 MB, {long} for {megabytes} MB");
            assert!(long.abs_diff(short) < TOLERANCE && long < TOLERANCE, "{what}");
        }
    }
    for encoding in [Encoding::Json, Encoding::Protobuf, Encoding::Cbor] {
        let idle = kept_between_events(encoding);
        assert!(idle < IDLE, "{encoding:?}: an idle watch keeps {idle} bytes");
    }
    let none =
        SeriesLimits { clients: 0, resources: 0, subresources: 0, codes: 0, upstreams: 0, sets: 1, ..SeriesLimits::default() };
    let kept = kept_of_many_clients(SeriesLimits::default()) - kept_of_many_clients(none);
    assert!((LABEL_SETS / 8..LABEL_SETS).contains(&kept), "label sets keep {kept} bytes");
}

/// The bytes that an Observer with these bounds for label sets keeps, after requests that differ in each label.
fn kept_of_many_clients(series: SeriesLimits) -> usize {
    const REQUESTS: [&str; 20] = [
        "GET?limit=500",
        "GET?watch=1",
        "GET?watch=1&resourceVersion=0",
        "GET?resourceVersion=0",
        "GET/x",
        "GET/x/status",
        "GET/namespaces/a?watch=1",
        "GET/namespaces/a?watch=1&resourceVersion=0",
        "GET/namespaces/a?limit=500",
        "GET/namespaces/a?resourceVersion=0",
        "POST",
        "POST/x/a",
        "POST/namespaces/a",
        "PUT",
        "PUT/x",
        "PUT/namespaces/a",
        "PATCH",
        "PATCH/x",
        "PATCH/x/scale",
        "PATCH/namespaces/a",
    ];
    let long = "n".repeat(250);
    let before = NOW.load(Ordering::Relaxed);
    let mut observer = Observer::new(Limits { series, ..Limits { records: 0, rows: 0, ..Limits::default() }.within(MEGABYTE) });
    for (number, (resource, request)) in (0..130).flat_map(|resource| REQUESTS.map(|request| (resource, request))).enumerate() {
        let (client, method) = (number % 71, request.split(['/', '?']).next().unwrap());
        let (rest, query) = request[method.len()..].split_once('?').unwrap_or((&request[method.len()..], ""));
        let (namespace, name) = if rest.starts_with("/namespaces") { (rest, "") } else { ("", rest) };
        let answer = if query.contains("watch") { "opens".to_owned() } else { format!("refused {} Some", 400 + number % 30) };
        let script = format!(
            "0s a connects client={long}{client} as={long}/{long}{client}
             1s a1 {method} /apis/{long}/v1{namespace}/{long}{resource}{name}?{query}
             2s a1 bytes 9
             3s a1 {answer}
             4s a1 ADDED x@5
             5s a1 ends"
        );
        for observation in observer_script::observations(&script) {
            observer.observe(observation, &mut |_| {});
        }
    }
    NOW.load(Ordering::Relaxed) - before
}

#[derive(Clone, Copy, Debug)]
enum Coding {
    Plain,
    /// Each item is a gzip member of its own.
    Gzip,
}

#[derive(Clone, Copy, Debug)]
enum Encoding {
    Json,
    Protobuf,
    Cbor,
}

/// Reads a list of at least `size` bytes, generated while it is read. Returns the peak of allocated bytes.
#[track_caller]
fn peak_while_reading(size: usize, encoding: Encoding, coding: Coding) -> usize {
    let item = encoding.item();
    let count = size.div_ceil(item.len());
    let (head, between, tail) = encoding.around(item.len() * count);
    let [first, next, end] = [[head, item.clone()].concat(), [between, item].concat(), tail].map(|part| coding.encode(&part));

    let before = reset_peak();
    let mut reader = BodyReader::new(BodyKind::Document, encoding.media_type(), coding.name()).unwrap();
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

/// The bytes that a watch reader keeps after an event that arrived in pieces.
#[track_caller]
fn kept_between_events(encoding: Encoding) -> usize {
    let event = encoding.event();
    let before = reset_peak();
    let mut reader = BodyReader::new(BodyKind::Watch, encoding.media_type(), "").unwrap();
    let mut events = 0;
    for chunk in event.chunks(3) {
        reader.push(chunk, &mut |fact| events += usize::from(matches!(fact, Fact::Frame(_))));
    }
    let kept = NOW.load(Ordering::Relaxed) - before;
    assert_eq!(events, 1);
    drop(reader);
    kept
}

impl Encoding {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            Self::Cbor => "application/cbor",
        }
    }

    /// An item of about 7 kB.
    fn item(self) -> Vec<u8> {
        let padding = r#"{\"a\":[1,2]} "#.repeat(500);
        match self {
            Self::Json => format!(
                r#"{{"metadata":{{"name":"web","namespace":"shop","uid":"u","resourceVersion":"7"}},"spec":{{"text":"{padding}"}}}}"#
            )
            .into_bytes(),
            Self::Protobuf => {
                let metadata = [field(1, b"web"), field(3, b"shop"), field(5, b"u"), field(6, b"7")].concat();
                field(2, &[field(1, &metadata), field(2, padding.as_bytes())].concat())
            }
            Self::Cbor => {
                let length = u16::try_from(padding.len()).unwrap().to_be_bytes();
                let metadata = b"\xa2\x48metadata\xa4\x44name\x43web\x49namespace\x44shop\x43uid\x41u\x4fresourceVersion\x417";
                [metadata.as_slice(), b"\x44spec\x59", &length, padding.as_bytes()].concat()
            }
        }
    }

    /// The bytes before, between and after items of `items` bytes in total.
    fn around(self, items: usize) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let [head, between, tail]: [Vec<u8>; 3] = match self {
            Self::Json => [
                br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":["#.to_vec(),
                b",".to_vec(),
                b"]}\n".to_vec(),
            ],
            Self::Protobuf => {
                let type_meta = [field(1, b"v1"), field(2, b"PodList")].concat();
                let head = [b"k8s\0".to_vec(), field(1, &type_meta), vec![0x12], varint(items)].concat();
                [head, Vec::new(), b"\x1a\0\x22\0".to_vec()]
            }
            Self::Cbor => [b"\xd9\xd9\xf7\xbf\x44kind\x47PodList\x45items\x9f".to_vec(), Vec::new(), b"\xff\xff".to_vec()],
        };
        (head, between, tail)
    }

    /// A watch event with the longest name that Kubernetes allows, 253 characters.
    fn event(self) -> Vec<u8> {
        let name = "n".repeat(253);
        match self {
            Self::Json => format!(r#"{{"type":"ADDED","object":{{"kind":"P","apiVersion":"v1","metadata":{{"name":"{name}"}}}}}}"#)
                .into_bytes(),
            Self::Protobuf => {
                let type_meta = [field(1, b"v1"), field(2, b"Pod")].concat();
                let object = [b"k8s\0".to_vec(), field(1, &type_meta), field(2, &field(1, &field(1, name.as_bytes())))].concat();
                let event = [field(1, b"ADDED"), field(2, &field(1, &object))].concat();
                [u32::try_from(event.len()).unwrap().to_be_bytes().as_slice(), &event].concat()
            }
            Self::Cbor => [b"\xa2\x44type\x45ADDED\x46object\xa1\x48metadata\xa1\x44name\x58\xfd", name.as_bytes()].concat(),
        }
    }
}

fn field(number: u8, value: &[u8]) -> Vec<u8> {
    [vec![number << 3 | 2], varint(value.len()), value.to_vec()].concat()
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
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

/// Starts a new peak. Returns the bytes that are allocated now.
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
        // SAFETY: the caller upholds the contract of `alloc`, which is also that of `System.alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `pointer` comes from `alloc` above, so from the system's allocator.
        unsafe { System.dealloc(pointer, layout) };
    }
}
