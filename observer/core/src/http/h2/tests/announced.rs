//! Header fields announced ahead of their blocks, on a connection that is decoded from its middle.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::super::super::Direction::{self, Request, Response};
use super::super::super::{Blocks, Start};
use super::conversation::{Conversation, conversations};
use super::transcript::Tap;
use super::wire::{END_STREAM, data, get, headers, indexed_field, ping, window_update};

const GET: &[(&str, &str)] = &[(":method", "GET"), (":path", "/api/v1/pods?watch=true"), ("user-agent", "kubelet/v1")];
/// `:method` from the static table, the others from dynamic table entries that were never seen.
const INDEXED_GET: &[u8] = b"\x82\xbe\xbf";
const OK: &[(&str, &str)] = &[(":status", "200"), ("content-type", "application/json")];
const INDEXED_OK: &[u8] = b"\x88\xc5";

enum Step {
    Fields(Direction, Blocks, &'static [(&'static str, &'static str)]),
    Bytes(Direction, Vec<u8>),
    Gap(Direction, usize),
}

use Step::{Bytes, Fields, Gap};

#[test]
fn announced_fields_resolve_unknown_indexes_for_later_blocks() {
    check(
        vec![
            Bytes(Request, proof()),
            Bytes(Response, proof()),
            Fields(Request, Blocks::OfStream(7), GET),
            Bytes(Request, headers(END_STREAM, 7, INDEXED_GET)),
            Fields(Response, Blocks::OfNextBytes, OK),
            Bytes(Response, headers(END_STREAM, 7, INDEXED_OK)),
            // A field that is new to the table shifts the learned ones.
            Bytes(Request, headers(END_STREAM, 9, &[b"\x82\xbe\xbf".as_slice(), &indexed_field("accept", "a/b")].concat())),
            Bytes(Request, headers(END_STREAM, 11, b"\x82\xbf\xc0\xbe")),
            Bytes(Response, headers(END_STREAM, 11, INDEXED_OK)),
        ],
        &expect![[r"
            > 7 request GET /api/v1/pods?watch=true identity=- user-agent=kubelet/v1
            > 7 end
            < 7 response 200 content-type=application/json
            < 7 end
            > 9 request GET /api/v1/pods?watch=true identity=- accept=a/b user-agent=kubelet/v1
            > 9 end
            > 11 request GET /api/v1/pods?watch=true identity=- accept=a/b user-agent=kubelet/v1
            > 11 end
            < 11 response 200 content-type=application/json
            < 11 end
        "]],
    );
}

#[test]
fn literal_named_by_an_unseen_entry_is_reported_and_stored() {
    // A literal with indexing, whose name is an entry from before decoding began; then that entry's name again, and the new entry.
    let block = [b"\x82\x84\x7f\x01\x03".as_slice(), b"one"].concat();
    let again = [b"\x82\x84\xbe\x0f\x32\x03".as_slice(), b"two"].concat();
    check(
        vec![
            Bytes(Request, proof()),
            Fields(Request, Blocks::OfStream(7), &[(":method", "GET"), (":path", "/"), ("user-agent", "one")]),
            Bytes(Request, headers(END_STREAM, 7, &block)),
            Bytes(Request, headers(END_STREAM, 9, b"\x82\x84\xbe")),
            Bytes(Request, headers(END_STREAM, 11, &again)),
        ],
        &expect![[r"
            > 7 request GET / identity=- user-agent=one
            > 7 end
            > 9 request GET / identity=- user-agent=one
            > 9 end
            > 11 request GET / identity=- user-agent=one
            > 11 end
        "]],
    );
}

#[test]
fn fields_that_do_not_match_their_block_are_ignored() {
    const UNKNOWN: &str = "> 7 request GET ? identity=? accept=? audit-id=? content-type=? user-agent=?\n> 7 end\n";
    let others: [(Blocks, &'static [(&'static str, &'static str)]); 5] = [
        (Blocks::OfStream(5), GET),
        (Blocks::OfStream(9), GET),
        (Blocks::OfStream(7), &[(":method", "POST"), (":path", "/a"), ("user-agent", "b")]),
        (Blocks::OfStream(7), &[(":method", "GET"), (":path", "/a")]),
        (Blocks::OfStream(7), &[(":method", "GET"), (":path", "/a"), ("user-agent", "b"), ("accept", "c")]),
    ];
    for (blocks, fields) in others {
        let emitted = play(vec![
            Bytes(Request, proof()),
            Fields(Request, blocks, fields),
            Bytes(Request, headers(END_STREAM, 7, INDEXED_GET)),
        ]);
        assert_eq!(emitted, UNKNOWN, "{blocks:?} {fields:?}");
    }
}

#[test]
fn fields_for_missing_or_irrelevant_bytes_are_discarded() {
    for instead in [Gap(Response, 5), Bytes(Response, ping())] {
        let emitted = play(vec![
            Bytes(Request, proof()),
            Bytes(Response, proof()),
            Bytes(Request, headers(END_STREAM, 7, &get("/a"))),
            // A frame whose payload may be missing.
            Bytes(Response, ping()[..12].to_vec()),
            Bytes(Response, ping()[12..].to_vec()),
            Bytes(Response, ping()[..12].to_vec()),
            Fields(Response, Blocks::OfNextBytes, OK),
            instead,
        ]);
        assert!(!emitted.contains("response"), "{emitted}");
    }
    check(
        vec![
            Bytes(Request, proof()),
            Bytes(Response, proof()),
            Bytes(Request, headers(END_STREAM, 7, &get("/a"))),
            Fields(Response, Blocks::OfNextBytes, OK),
            Bytes(Response, ping()),
            Bytes(Response, headers(END_STREAM, 7, INDEXED_OK)),
        ],
        &expect![[r"
            > 7 request GET /a identity=-
            > 7 end
            < 7 response 200 accept=? audit-id=? content-type=? user-agent=?
            < 7 end
        "]],
    );
}

#[test]
fn announced_request_block_and_its_response_prove_frame_boundaries() {
    check(
        vec![
            Bytes(Request, b"rest of a frame".to_vec()),
            Fields(Request, Blocks::OfStream(7), GET),
            Bytes(Request, [window_update(0, 1), headers(END_STREAM, 7, INDEXED_GET)].concat()),
            Fields(Response, Blocks::OfNextBytes, OK),
            Bytes(Response, [headers(0, 7, INDEXED_OK), data(0, 7, b"{}")].concat()),
            Bytes(Response, data(END_STREAM, 7, b"{}")),
        ],
        &expect![[r#"
            > 7 request GET /api/v1/pods?watch=true identity=- user-agent=kubelet/v1
            > 7 end
            < 7 response 200 content-type=application/json
            < 7 body "{}{}"
            < 7 end
        "#]],
    );
}

#[test]
fn fields_of_a_block_before_the_proof_are_not_reused() {
    check(
        vec![
            Fields(Request, Blocks::OfStream(7), GET),
            Bytes(Request, headers(END_STREAM, 7, INDEXED_GET)),
            Fields(Response, Blocks::OfNextBytes, &[(":status", "404"), ("content-type", "text/plain"), (":status", "200")]),
            Bytes(Response, [headers(END_STREAM, 3, b"\xc6\xc5"), headers(END_STREAM, 7, b"\xbe")].concat()),
        ],
        &expect![[r"
            > 7 request GET /api/v1/pods?watch=true identity=- user-agent=kubelet/v1
            > 7 end
            < 7 end
        "]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn announced_fields_recover_every_head_after_a_late_start(
        conversation in conversations(),
        cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(conversation.frames.len());
        let mut whole = Tap::new(Start::Beginning);
        let mut late = Tap::new(Start::Middle);
        late.bytes(Request, &proof());
        late.bytes(Response, &proof());
        let mut told_before = 0;
        for (at, (direction, bytes)) in conversation.frames.iter().enumerate() {
            whole.bytes(*direction, bytes);
            if at < cut || at < 2 {
                told_before = whole.lines().len();
                continue;
            }
            emit_fields(&mut late, &conversation, at);
            late.bytes(*direction, bytes);
        }
        let late = late.lines();
        for line in whole.lines().into_iter().skip(told_before) {
            let is_head = line.contains(" request ") || line.contains(" response ") || line.contains(" interim ");
            prop_assert!(!is_head || late.contains(&line), "{:?} is not in {:?}", line, late);
        }
    }

    #[test]
    fn wrong_fields_do_not_change_values_the_block_contains(
        conversation in conversations(),
        wrong in prop::collection::vec((wrong_name(), "[a-z]{0,8}"), 1..6),
    ) {
        let mut blind = Tap::new(Start::Middle);
        let mut misled = Tap::new(Start::Middle);
        for tap in [&mut blind, &mut misled] {
            tap.bytes(Request, &proof());
            tap.bytes(Response, &proof());
        }
        let wrong: Vec<(&str, &str)> = wrong.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for (at, (direction, bytes)) in conversation.frames.iter().enumerate().skip(2) {
            if let Some((stream, _)) = conversation.fields.get(&at) {
                misled.fields(*direction, Blocks::OfStream(*stream), &wrong);
            }
            blind.bytes(*direction, bytes);
            misled.bytes(*direction, bytes);
        }
        let (blind, misled) = (blind.lines(), misled.lines());
        prop_assert_eq!(blind.len(), misled.len());
        for (blind, misled) in blind.iter().zip(&misled) {
            let kept = blind.split(' ').filter(|word| !word.contains('?')).all(|word| misled.split(' ').any(|other| other == word));
            prop_assert!(kept, "{:?} became {:?}", blind, misled);
        }
    }
}

/// No pseudo-header fields, because they decide the kind of a message.
fn wrong_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["user-agent", "accept", "audit-id", "authorization", "cookie", "x-other", "x-checksum"])
}

fn emit_fields(tap: &mut Tap, conversation: &Conversation, at: usize) {
    let Some((stream, fields)) = conversation.fields.get(&at) else { return };
    let direction = conversation.frames[at].0;
    let blocks = if direction == Request { Blocks::OfStream(*stream) } else { Blocks::OfNextBytes };
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    tap.fields(direction, blocks, &fields);
}

fn proof() -> Vec<u8> {
    [ping(), ping(), ping()].concat()
}

fn play(steps: Vec<Step>) -> String {
    let mut tap = Tap::new(Start::Middle);
    for step in steps {
        match step {
            Fields(direction, blocks, fields) => tap.fields(direction, blocks, fields),
            Bytes(direction, bytes) => tap.bytes(direction, &bytes),
            Gap(direction, length) => tap.gap(direction, None, length),
        }
    }
    tap.text()
}

#[track_caller]
fn check(steps: Vec<Step>, expected: &Expect) {
    expected.assert_eq(&play(steps));
}
