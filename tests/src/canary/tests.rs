//! Tests that the search finds each encoding and nothing else.

use std::io::Write;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::{Canary, Encoding, Search, huffman};

const SECRET: &str = "wt-canary-Q7x?>~of-a-test";

#[test]
fn raw_bytes_are_found_in_any_case() {
    for text in [SECRET.to_owned(), SECRET.to_uppercase(), format!("Authorization: Bearer {SECRET}\r\n")] {
        assert_found(&text, Encoding::Raw);
    }
}

#[test]
fn base64_is_found_at_each_alignment_in_both_alphabets() {
    for before in ["", "a", "ab", "abc", "user:"] {
        let text = format!("{before}{SECRET}:and more");
        for encoded in [BASE64_STANDARD.encode(&text), BASE64_STANDARD_NO_PAD.encode(&text), BASE64_URL_SAFE_NO_PAD.encode(&text)] {
            assert_found(&format!("{{\"data\":\"{encoded}\"}}"), Encoding::Base64);
        }
    }
}

#[test]
fn hex_is_found_in_any_case() {
    let hex = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert_found(&format!("0x00{hex}ff"), Encoding::Hex);
    assert_found(&hex.to_uppercase(), Encoding::Hex);
}

#[test]
fn byte_lists_are_found_with_any_line_breaks() {
    let bytes = [b"x", SECRET.as_bytes(), b"y"].concat();
    for text in [
        format!("{bytes:?}"),
        format!("{bytes:#?}"),
        format!("{bytes:02x?}"),
        format!("{bytes:#04X?}"),
        serde_json::to_string(&bytes).unwrap(),
        serde_json::to_string_pretty(&bytes).unwrap(),
    ] {
        assert_found(&text, Encoding::Numbers);
    }
}

#[test]
fn percent_encoding_is_found_in_any_case() {
    let encoded = SECRET.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
    assert_found(&format!("/api?token={encoded}"), Encoding::Percent);
    assert_found(&encoded.to_lowercase(), Encoding::Percent);
}

#[test]
fn huffman_code_is_found_at_any_bit() {
    // A five-bit symbol shifts the following bits by five; eight of them shift by every number of bits.
    for count in 0..8 {
        let before = "a".repeat(count);
        assert_found_in(&huffman(format!("{before}{SECRET}tail").as_bytes()), Encoding::Huffman);
    }
}

#[test]
fn compressed_files_are_searched() {
    let text = format!("{{\"x\":1}}\n{SECRET}\n");
    let bare = deflated(text.as_bytes());
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(text.as_bytes()).unwrap();
    let gzip = gzipped(text.as_bytes());
    for (name, file) in [
        ("a block of a capture", [&b"\x89WTcap\xff\xfe"[..], &bare, b"\xff\xfe"].concat()),
        ("zlib", zlib.finish().unwrap()),
        ("gzip", gzip.clone()),
        ("the second gzip member", [gzipped(b"nothing to be seen here"), gzip.clone()].concat()),
        ("gzip in gzip", gzipped(&gzip)),
        ("gzip that is torn", gzip[..gzip.len() - 9].to_vec()),
    ] {
        let hits = search().hits(&file);
        assert!(hits.iter().any(|hit| hit.encoding == Encoding::Raw), "{name}: {hits:?}");
    }
}

#[test]
fn truncated_secret_is_not_found() {
    let near = &SECRET[..SECRET.len() - 4];
    for text in [near.to_owned(), BASE64_STANDARD.encode(near), format!("{:?}", near.as_bytes())] {
        assert_eq!(search().hits(text.as_bytes()), [], "{text}");
    }
    assert_eq!(search().hits(&huffman(near.as_bytes())), []);
    assert_eq!(search().hits(&gzipped(near.as_bytes())), []);
}

#[test]
fn hit_contains_the_place_and_its_context() {
    let hits = search().hits(format!("error: cannot read {SECRET}").as_bytes());
    let [hit] = hits.as_slice() else { panic!("one hit: {hits:?}") };
    assert!(hit.to_string().starts_with("a test (Raw): …error:,cannot,read,wt-canary"), "{hit}");
}

#[test]
fn short_canary_is_refused() {
    assert!(Search::new(&[Canary::new("a test", "short")]).is_err());
}

#[track_caller]
fn assert_found(text: &str, encoding: Encoding) {
    assert_found_in(text.as_bytes(), encoding);
}

#[track_caller]
fn assert_found_in(bytes: &[u8], encoding: Encoding) {
    let hits = search().hits(bytes);
    assert!(hits.iter().any(|hit| hit.encoding == encoding), "{encoding:?} is not found in {bytes:?}: {hits:?}");
}

fn search() -> Search {
    Search::new(&[Canary::new("a test", SECRET)]).unwrap()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::fast());
    deflate.write_all(bytes).unwrap();
    deflate.finish().unwrap()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}
