//! Watch events in messages, as a WebSocket carries them.

use proptest::prelude::*;

use super::fixtures::WATCH;
use super::reading::{CBOR, JSON, PROTOBUF, frames, read_as};
use super::{cbor_bytes, protobuf_bytes};
use crate::wire::{BodyKind, BodyReader, Fact, MediaType, WatchFrame};

#[test]
fn messages_yield_the_same_events_as_a_body() {
    for (media_type, body, messages) in all() {
        let expected = frames(read_as(BodyKind::Watch, media_type, "", [body.as_slice()]));
        let emitted = frames(read(media_type, &messages, usize::MAX));
        assert_eq!(without_lengths(emitted), without_lengths(expected), "{media_type}");
    }
}

#[test]
fn first_byte_identifies_the_encoding_of_messages() {
    for (media_type, _, messages) in all() {
        assert_eq!(MediaType::of_event(messages[0][0]).map(MediaType::as_str), Some(media_type));
    }
    for byte in [b' ', b'[', b'k', 0, 0xff] {
        assert_eq!(MediaType::of_event(byte), None, "{byte:#x}");
    }
}

#[test]
fn a_message_that_ends_within_its_event_is_malformed() {
    for (media_type, _, messages) in all().into_iter().filter(|(media_type, ..)| *media_type != CBOR) {
        let cut = &messages[0][..messages[0].len() - 2];
        let facts = read(media_type, &[cut.to_vec(), messages[1].clone()], usize::MAX);
        assert!(
            matches!(facts[..], [Fact::Malformed { what: "message ends in the middle of a watch event", .. }]),
            "{media_type}: {facts:?}"
        );
    }
}

#[test]
fn a_gap_loses_the_event_of_its_message_only() {
    for (media_type, _, messages) in all().into_iter().filter(|(media_type, ..)| *media_type != CBOR) {
        let whole = frames(read(media_type, &messages, usize::MAX));
        for lost in 0..messages[1].len() {
            let mut emitted = Vec::new();
            let mut reader = BodyReader::new(BodyKind::Messages, media_type, "").unwrap();
            let mut note = |fact| emitted.push(fact);
            reader.push(&messages[0], &mut note);
            reader.end_message(&mut note);
            reader.push(&messages[1][..lost], &mut note);
            reader.gap((messages[1].len() - lost) as u64);
            reader.end_message(&mut note);
            reader.push(&messages[2], &mut note);
            reader.end_message(&mut note);
            let emitted = without_lengths(frames(emitted));
            let rest = without_lengths(vec![whole[0].clone(), whole[2].clone()]);
            let all = without_lengths(whole[..3].to_vec());
            assert!(emitted == rest || emitted == all, "{media_type}, lost from {lost}: {emitted:?}");
        }
    }
}

proptest! {
    #[test]
    fn messages_may_be_cut_anywhere(
        (media_type, _, messages) in prop::sample::select(all()),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>())),
        size in 1_usize..60,
    ) {
        let mut messages = messages;
        if let Some((message, place, byte)) = damage {
            let message = message.get_mut(&mut messages);
            let place = place.index(message.len());
            message[place] = byte;
        }
        prop_assert_eq!(read(media_type, &messages, size), read(media_type, &messages, usize::MAX));
    }
}

/// A media type, the body of a watch, and the same body in messages.
type Watch = (&'static str, Vec<u8>, Vec<Vec<u8>>);

/// One watch in every encoding.
fn all() -> Vec<Watch> {
    let json: Vec<Vec<u8>> = WATCH.lines().map(|line| format!("{line}\n").into_bytes()).collect();
    // An encoder may write the tag of an item and then the item (kubernetes/apimachinery `cbor.go`), each in a message of its own.
    let halves = |event: Vec<u8>| [event[..3].to_vec(), event[3..].to_vec()];
    let cbor: Vec<Vec<u8>> = WATCH.lines().flat_map(|line| halves(cbor_bytes::document(line))).collect();
    let watch = protobuf_bytes::watch();
    let mut protobuf = Vec::new();
    let mut rest = watch.as_slice();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (event, next) = after.split_at(usize::try_from(u32::from_be_bytes(*length)).unwrap());
        protobuf.push(event.to_vec());
        rest = next;
    }
    vec![(JSON, WATCH.as_bytes().to_vec(), json), (PROTOBUF, watch, protobuf), (CBOR, cbor_bytes::watch(WATCH), cbor)]
}

fn read(media_type: &str, messages: &[Vec<u8>], chunk: usize) -> Vec<Fact> {
    let mut reader = BodyReader::new(BodyKind::Messages, media_type, "").unwrap();
    let mut facts = Vec::new();
    for message in messages {
        for piece in message.chunks(chunk.min(message.len().max(1))) {
            reader.push(piece, &mut |fact| facts.push(fact));
        }
        reader.end_message(&mut |fact| facts.push(fact));
    }
    reader.finish(&mut |fact| facts.push(fact));
    facts
}

/// The frames without their lengths, which differ in messages.
fn without_lengths(frames: Vec<WatchFrame>) -> Vec<WatchFrame> {
    frames.into_iter().map(|frame| WatchFrame { bytes: 0, ..frame }).collect()
}
