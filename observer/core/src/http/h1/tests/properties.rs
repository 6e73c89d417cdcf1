//! Properties that hold for any bytes.

use proptest::prelude::*;

use super::script::{Call, run, split, split_sizes};
use crate::http::h1::lines::MAX_LINE;
use crate::http::h1::undecided::MAX_UNDECIDED;
use crate::http::{Direction, Start};

/// Pieces that reach deep states of the decoder when combined at random.
const FRAGMENTS: &[&str] = &[
    "GET /a HTTP/1.1\r\n\r\n",
    "GET /a HTTP/1.1\r\nUpgrade: x\r\n\r\n",
    "CONNECT a:1 HTTP/1.1\r\n\r\n",
    "HEAD / HTTP/1.1\n\n",
    "PUT /a HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
    "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "PUT /a HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
    "3\r\nabc\r\n",
    "0\r\n\r\n",
    "hello",
    "\r\n",
    "User-Agent: a\r\n",
    " folded\r\n",
    "GET ",
    ":",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_bytes_give_the_same_events_in_any_chunks(
        start in prop_oneof![Just(Start::Beginning), Just(Start::Middle)],
        calls in calls(),
        sizes in split_sizes(),
    ) {
        let whole = run(start, &calls);
        prop_assert!(whole.most_held <= MAX_LINE + MAX_UNDECIDED);
        let cut = run(start, &split(&calls, &sizes));
        prop_assert_eq!(cut.text(), whole.text());
    }
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let direction = || prop_oneof![Just(Direction::Request), Just(Direction::Response)];
    let fragments = prop::collection::vec(prop::sample::select(FRAGMENTS), 1..4).prop_map(|pieces| pieces.concat().into_bytes());
    let call = prop_oneof![
        12 => (direction(), fragments).prop_map(|(direction, bytes)| Call::Bytes(direction, bytes)),
        2 => (direction(), prop::collection::vec(any::<u8>(), 1..60)).prop_map(|(direction, bytes)| Call::Bytes(direction, bytes)),
        1 => (direction(), 1..8_u64).prop_map(|(direction, length)| Call::Gap(direction, length)),
        1 => direction().prop_map(Call::End),
    ];
    prop::collection::vec(call, 1..16)
}
