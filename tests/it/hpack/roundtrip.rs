//! Header lists encoded by the `h2` crate must equal those that the decoders return.

use http::{HeaderMap, Request, Response};
use observer_core::http::hpack::{Decoder, FieldLine};
use observer_core::http::{Connection, Direction, Event, Field, HeaderName, Identity, Protocol, Start, Target};
use observer_tests::field_line;

use super::connection::{Exchange, Piece, Recording, TableSizes, exchange};
use super::frames::header_blocks;
use super::random::{Random, seed};

/// Exchanges per connection; together 10 000 header lists in each direction.
const EXCHANGES: u32 = 500;
/// The default, smaller sizes down to zero, and larger ones.
const TABLE_SIZES: [u32; 7] = [0, 31, 64, 300, 4096, 16_384, 65_536];

#[test]
fn h2_hpack_blocks_decode_to_the_encoded_fields() {
    let seed = seed();
    let mut random = Random::new(seed);
    for _ in 0..20 {
        let (sizes, exchanges) = exchanges(&mut random);
        let pieces = exchange(sizes, exchanges.clone()).pieces();
        let (requests, responses): (Vec<_>, Vec<_>) =
            exchanges.iter().map(|Exchange { request, response }| (request_fields(request), response_fields(response))).unzip();
        for (direction, limit, sent) in
            [(Direction::Request, sizes.of_server, requests), (Direction::Response, sizes.of_client, responses)]
        {
            let bytes: Vec<u8> =
                pieces.iter().filter(|piece| piece.direction == direction).flat_map(|piece| piece.bytes.iter().copied()).collect();
            let decoded = decode(&bytes, limit.max(4096));
            assert_eq!(decoded.len(), sent.len(), "seed {seed}, {sizes:?}");
            for (decoded, sent) in decoded.iter().zip(&sent) {
                assert_eq!(decoded, sent, "seed {seed}, {sizes:?}");
            }
        }
    }
}

#[test]
fn h2_heads_are_reported_as_sent() {
    let seed = seed();
    let mut random = Random::new(seed);
    for _ in 0..4 {
        let (sizes, exchanges) = exchanges(&mut random);
        let decoded = observe(&exchange(sizes, exchanges.clone()));
        assert_eq!(decoded.len(), exchanges.len() * 2, "seed {seed}, {sizes:?}");
        for (decoded, Exchange { request, response }) in decoded.chunks(2).zip(&exchanges) {
            let sent = [describe_request(request), describe_response(response)];
            assert_eq!(decoded, sent, "seed {seed}, {sizes:?}");
        }
    }
}

fn exchanges(random: &mut Random) -> (TableSizes, Vec<Exchange>) {
    let sizes = TableSizes { of_client: random.pick(&TABLE_SIZES), of_server: random.pick(&TABLE_SIZES) };
    let exchanges = (0..EXCHANGES).map(|_| {
        let uri = format!("https://api.example:6443{}", random.path());
        let mut request = Request::builder().method(random.method()).uri(uri).body(()).unwrap();
        *request.headers_mut() = random.headers();
        let mut response = Response::builder().status(random.status()).body(()).unwrap();
        *response.headers_mut() = random.headers();
        Exchange { request, response }
    });
    let exchanges = exchanges.collect();
    (sizes, exchanges)
}

fn decode(bytes: &[u8], limit: u32) -> Vec<Vec<FieldLine>> {
    let mut decoder = Decoder::from_beginning();
    decoder.limit_size(limit);
    let blocks = header_blocks(bytes).into_iter().map(|fragments| {
        let mut lines = Vec::new();
        for fragment in fragments {
            decoder.fragment(fragment, &mut |line| lines.push(line.clone())).unwrap();
        }
        decoder.finish().unwrap();
        lines
    });
    blocks.collect()
}

/// The fields in the order in which the `h2` crate encodes them (`src/frame/headers.rs`, `Iter`).
fn request_fields(request: &Request<()>) -> Vec<FieldLine> {
    let path = request.uri().path_and_query().unwrap().as_str();
    let mut fields = vec![
        field_line(b":method", request.method().as_str().as_bytes()),
        field_line(b":scheme", b"https"),
        field_line(b":authority", b"api.example:6443"),
        field_line(b":path", path.as_bytes()),
    ];
    fields.extend(other_fields(request.headers()));
    fields
}

fn response_fields(response: &Response<()>) -> Vec<FieldLine> {
    let mut fields = vec![field_line(b":status", response.status().as_str().as_bytes())];
    fields.extend(other_fields(response.headers()));
    fields
}

fn other_fields(headers: &HeaderMap) -> impl Iterator<Item = FieldLine> {
    headers.iter().map(|(name, value)| field_line(name.as_str().as_bytes(), value.as_bytes()))
}

/// One line per head.
fn observe(recording: &Recording) -> Vec<String> {
    let mut connection = Connection::new(Start::Beginning, Some(Protocol::Http2));
    let mut heads = Vec::new();
    for Piece { direction, bytes } in recording.pieces() {
        connection.bytes(direction, &bytes, &mut |event| match event {
            Event::Request { head, .. } => heads.push(format!(
                "{:?} {:?} {:?} {:?}",
                head.method,
                head.target,
                head.identity,
                kept(|name| head.headers.get(name))
            )),
            Event::Response { head, .. } => {
                heads.push(format!("{:?} {:?}", head.status, kept(|name| head.headers.get(name))));
            }
            Event::MessageEnd { .. } | Event::Window { .. } | Event::GoAway { .. } => {}
            other @ (Event::Informational { .. }
            | Event::Body { .. }
            | Event::BodyGap { .. }
            | Event::MessageCut { .. }
            | Event::Reset { .. }
            | Event::Upgraded { .. }
            | Event::Opaque { .. }
            | Event::OpaqueGap { .. }
            | Event::Malformed { .. }
            | Event::DecodingStopped { .. }) => panic!("{other:?}"),
        });
    }
    heads
}

fn describe_request(request: &Request<()>) -> String {
    let method = Field::Known(request.method().as_str());
    let target = Field::Known(Target::parse(request.uri().path_and_query().unwrap().as_str().as_bytes()));
    let identity = request.headers().get("authorization").map(|value| Identity::from_authorization(value.as_bytes()));
    let identity = identity.map_or(Field::Absent, Field::Known);
    format!("{method:?} {target:?} {identity:?} {:?}", sent(request.headers()))
}

fn describe_response(response: &Response<()>) -> String {
    format!("{:?} {:?}", Field::Known(response.status().as_u16()), sent(response.headers()))
}

fn kept<'h>(field: impl Fn(HeaderName) -> Field<&'h str>) -> Vec<Field<String>> {
    let owned = |name| match field(name) {
        Field::Known(value) => Field::Known(value.to_owned()),
        Field::Absent => Field::Absent,
        Field::Unknown => Field::Unknown,
    };
    LISTED.into_iter().map(owned).collect()
}

/// The first field of each name: its first 1024 bytes, with `?` for bytes that are not printable ASCII.
fn sent(headers: &HeaderMap) -> Vec<Field<String>> {
    let printable = |byte: &u8| if (b' '..=b'~').contains(byte) { char::from(*byte) } else { '?' };
    let value = |name: HeaderName| {
        let value = headers.get(name.as_str())?;
        Some(value.as_bytes().iter().take(1024).map(printable).collect())
    };
    LISTED.into_iter().map(|name| value(name).map_or(Field::Absent, Field::Known)).collect()
}

/// The random names that are on the allow-list.
const LISTED: [HeaderName; 9] = [
    HeaderName::Accept,
    HeaderName::AuditId,
    HeaderName::ContentType,
    HeaderName::KubectlCommand,
    HeaderName::RetryAfter,
    HeaderName::UserAgent,
    HeaderName::Warning,
    HeaderName::FlowSchemaUid,
    HeaderName::PriorityLevelUid,
];
