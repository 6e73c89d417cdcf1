//! Properties that hold for any conversation, and for any bytes.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::super::Direction::{self, Request, Response};
use super::super::super::Start;
use super::super::walker::{FrameWalker, Span};
use super::conversation::{Conversation, conversations};
use super::transcript::{Emitted, Tap};
use super::wire::preface;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conversation_is_reported_exactly(conversation in conversations()) {
        let mut tap = Tap::new(Start::Beginning);
        for (direction, bytes) in &conversation.frames {
            tap.bytes(*direction, bytes);
        }
        prop_assert_eq!(tap.emitted(), conversation.emitted);
    }

    #[test]
    fn chunking_changes_nothing(conversation in conversations(), cuts in cuts()) {
        let mut tap = Tap::new(Start::Beginning);
        let mut cuts = cuts.iter().cycle();
        for (direction, bytes) in &conversation.frames {
            in_chunks(bytes, &mut cuts, |chunk| tap.bytes(*direction, chunk));
        }
        prop_assert_eq!(tap.emitted(), conversation.emitted);
    }

    #[test]
    fn everything_but_bodies_is_reported_without_data_payload(conversation in conversations(), cuts in cuts()) {
        let mut tap = Tap::new(Start::Beginning);
        let mut cuts = cuts.iter().cycle();
        walk(&conversation, &mut cuts, |direction, span| match span {
            Span::Control(bytes) => tap.bytes(direction, &bytes),
            Span::Data { stream, bytes } => tap.gap(direction, Some(stream), bytes.len()),
        });
        prop_assert_eq!(tap.emitted(), conversation.emitted_without_data);
    }

    #[test]
    fn missing_data_payload_shifts_no_body_byte(
        conversation in conversations(),
        cuts in cuts(),
        seen in prop::collection::vec(any::<bool>(), 1..9),
    ) {
        let mut tap = Tap::new(Start::Beginning);
        let (mut cuts, mut seen) = (cuts.iter().cycle(), seen.iter().cycle());
        walk(&conversation, &mut cuts, |direction, span| match span {
            Span::Data { stream, bytes } if !seen.next().unwrap() => tap.gap(direction, Some(stream), bytes.len()),
            Span::Control(bytes) | Span::Data { bytes, .. } => tap.bytes(direction, &bytes),
        });
        let emitted = tap.emitted();
        prop_assert_eq!(lines(&emitted), lines(&conversation.emitted));
        assert_bodies_fit(&emitted, &conversation.emitted, &conversation.emitted_without_data);
    }

    #[test]
    fn gap_anywhere_adds_no_false_facts(conversation in conversations(), from in 0.0..1.0, length in 1..40_usize) {
        for direction in [Request, Response] {
            let total: usize = of(&conversation, direction).map(|(_at, bytes)| bytes.len()).sum();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "any place will do")]
            let from = (total as f64 * from) as usize;
            let emitted = with_gap(&conversation, direction, from..from + length);
            assert_consistent(&emitted, &conversation.emitted);
        }
    }

    #[test]
    fn start_in_the_middle_adds_no_false_facts(
        conversation in conversations(),
        starts in [0..30_usize, 0..30_usize],
        cut in 0..20_usize,
    ) {
        let mut tap = Tap::new(Start::Middle);
        for (at, (direction, bytes)) in conversation.frames.iter().enumerate() {
            let start = starts[usize::from(*direction == Response)];
            if at > start {
                tap.bytes(*direction, bytes);
            } else if at == start {
                tap.bytes(*direction, &bytes[cut.min(bytes.len())..]);
            }
        }
        tap.end(Response);
        tap.end(Request);
        assert_consistent(&tap.emitted(), &conversation.emitted);
    }

    #[test]
    fn chunking_does_not_change_events_of_a_damaged_conversation(
        mut conversation in conversations(),
        cuts in cuts(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for (frame, at, flip) in flips {
            let frames = conversation.frames.len();
            let (_direction, bytes) = &mut conversation.frames[frame.index(frames)];
            let length = bytes.len();
            bytes[at.index(length)] ^= flip;
        }
        let (mut whole, mut chunked) = (Tap::new(Start::Beginning), Tap::new(Start::Beginning));
        let mut cuts = cuts.iter().cycle();
        for (direction, bytes) in &conversation.frames {
            whole.bytes(*direction, bytes);
            in_chunks(bytes, &mut cuts, |chunk| chunked.bytes(*direction, chunk));
        }
        prop_assert_eq!(whole.emitted(), chunked.emitted());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(
        calls in prop::collection::vec((any::<bool>(), prop::option::of(any::<u16>()), bytes_like_frames()), 0..30),
        middle in any::<bool>(),
    ) {
        let mut tap = Tap::new(if middle { Start::Middle } else { Start::Beginning });
        tap.bytes(Request, &preface());
        for (request, gap, bytes) in calls {
            let direction = if request { Request } else { Response };
            tap.bytes(direction, &bytes);
            if let Some(gap) = gap {
                tap.gap(direction, (gap % 3 > 0).then(|| u32::from(gap % 7)), usize::from(gap));
            }
        }
        tap.end(Response);
        tap.end(Request);
    }
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1..40_usize, 1..9)
}

/// Bytes that often begin like a frame header.
fn bytes_like_frames() -> impl Strategy<Value = Vec<u8>> {
    let header = (0..40_u8, 0..12_u8, any::<u8>(), 0..8_u8);
    let frame = (header, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|((length, frame_type, flags, stream), payload)| {
        [[0, 0, length, frame_type, flags, 0, 0, 0, stream].as_slice(), &payload].concat()
    });
    prop_oneof![frame, prop::collection::vec(any::<u8>(), 0..40)]
}

fn in_chunks<'a>(bytes: &[u8], sizes: &mut impl Iterator<Item = &'a usize>, mut chunk: impl FnMut(&[u8])) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (first, behind) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
        chunk(first);
        rest = behind;
    }
}

/// The frames of a conversation in chunks, each cut into spans.
fn walk<'a>(conversation: &Conversation, sizes: &mut impl Iterator<Item = &'a usize>, mut span: impl FnMut(Direction, Span<'_>)) {
    let (mut requests, mut responses) = (FrameWalker::of_requests(), FrameWalker::of_responses());
    for (direction, bytes) in &conversation.frames {
        in_chunks(bytes, sizes, |chunk| match direction {
            Request => requests.walk(chunk, |found| span(*direction, found)),
            Response => responses.walk(chunk, |found| span(*direction, found)),
        });
    }
}

/// The frames of one direction, with the offset at which each begins.
fn of(conversation: &Conversation, direction: Direction) -> impl Iterator<Item = (usize, &Vec<u8>)> {
    let frames = conversation.frames.iter().filter(move |(of, _bytes)| *of == direction).map(|(_of, bytes)| bytes);
    frames.scan(0, |offset, bytes| {
        let at = *offset;
        *offset += bytes.len();
        Some((at, bytes))
    })
}

/// The events if the bytes of `gap` are missing in one direction, and both directions end.
fn with_gap(conversation: &Conversation, in_direction: Direction, gap: std::ops::Range<usize>) -> Vec<Emitted> {
    let mut tap = Tap::new(Start::Beginning);
    let mut offset = 0;
    for (direction, bytes) in &conversation.frames {
        if *direction != in_direction {
            tap.bytes(*direction, bytes);
            continue;
        }
        let (before, behind) = (gap.start.saturating_sub(offset), gap.end.saturating_sub(offset));
        let (before, behind) = (before.min(bytes.len()), behind.min(bytes.len()));
        tap.bytes(*direction, &bytes[..before]);
        tap.gap(*direction, None, behind - before);
        tap.bytes(*direction, &bytes[behind..]);
        offset += bytes.len();
    }
    tap.end(Response);
    tap.end(Request);
    tap.emitted()
}

fn lines(emitted: &[Emitted]) -> Vec<&str> {
    emitted
        .iter()
        .filter_map(|emitted| match emitted {
            Emitted::Line(line) => Some(line.as_str()),
            Emitted::Body(..) | Emitted::Missing(..) | Emitted::Opaque(..) => None,
        })
        .collect()
}

/// A body with some bytes unseen.
#[derive(Clone, Default)]
struct Body {
    bytes: Vec<Option<u8>>,
    seen: usize,
}

fn bodies(emitted: &[Emitted]) -> BTreeMap<(Direction, u64), Body> {
    let mut bodies: BTreeMap<(Direction, u64), Body> = BTreeMap::new();
    for emitted in emitted {
        match emitted {
            Emitted::Body(direction, stream, bytes) => {
                let body = bodies.entry((*direction, *stream)).or_default();
                body.bytes.extend(bytes.iter().map(|byte| Some(*byte)));
                body.seen += bytes.len();
            }
            Emitted::Missing(direction, stream, length) => {
                let body = bodies.entry((*direction, *stream)).or_default();
                body.bytes.extend(std::iter::repeat_n(None, usize::try_from(*length).unwrap()));
            }
            Emitted::Line(_) | Emitted::Opaque(..) => {}
        }
    }
    bodies
}

/// Bodies have the length that was sent, or are longer by padding. Without padding, each seen byte is at its place.
#[track_caller]
fn assert_bodies_fit(emitted: &[Emitted], whole: &[Emitted], without_data: &[Emitted]) {
    let (emitted, whole, longest) = (bodies(emitted), bodies(whole), bodies(without_data));
    for (key, Body { bytes: longest, .. }) in longest {
        let whole = whole.get(&key).cloned().unwrap_or_default().bytes;
        let body = emitted.get(&key).cloned().unwrap_or_default().bytes;
        assert!((whole.len()..=longest.len()).contains(&body.len()), "{key:?}: {} bytes", body.len());
        if whole.len() == longest.len() {
            let differs = body.iter().zip(&whole).any(|(emitted, sent)| emitted.is_some() && emitted != sent);
            assert!(!differs, "{key:?}: {body:?} of {whole:?}");
        }
    }
}

/// Each reported line was also reported for the complete conversation, or is unknown in part.
#[track_caller]
fn assert_consistent(emitted: &[Emitted], whole: &[Emitted]) {
    let sent = lines(whole);
    let mut streams_told = BTreeMap::new();
    for line in lines(emitted) {
        let fact = !line.contains(" stopped ");
        assert!(!fact || sent.iter().any(|sent| is_less(line, sent)) || is_cut(line, &sent), "{line:?} is not of {sent:?}");
        *streams_told.entry(line).or_insert(0) += 1;
    }
    for (line, times) in streams_told {
        let sent_times = sent.iter().filter(|sent| is_less(line, sent)).count();
        assert!(times == 1 || times <= sent_times, "{line:?} {times} times");
    }
    let sent = bodies(whole);
    for (key, Body { seen, .. }) in bodies(emitted) {
        let sent = sent.get(&key).map_or(0, |sent| sent.seen);
        assert!(seen <= sent, "{key:?}: {seen} bytes of {sent}");
    }
}

/// Whether `line` equals `sent`, or has `?` for a part of it. Fields that are not in `sent` may be unknown.
fn is_less(line: &str, sent: &str) -> bool {
    let mut words = sent.split(' ').peekable();
    line.split(' ').all(|word| {
        let name = word.strip_suffix("=?");
        match words.peek() {
            Some(sent) if *sent == word || word == "?" || name.is_some_and(|name| sent.starts_with(&format!("{name}="))) => {
                words.next();
                true
            }
            Some(_) | None => name.is_some(),
        }
    }) && words.next().is_none()
}

/// Whether `line` reports a message as cut that did not end.
fn is_cut(line: &str, sent: &[&str]) -> bool {
    line.strip_suffix(" cut").is_some_and(|message| !sent.contains(&format!("{message} end").as_str()))
}
