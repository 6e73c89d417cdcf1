//! The examples of RFC 7541, and cases that it does not show.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::huffman::Huffman;
use super::integer::{Integer, Progress};
use super::{CompressionError, Decoder, FieldLine, Name, Value};

#[test]
fn appendix_c1_integers() {
    assert_eq!(integer(5, "0a"), 10);
    assert_eq!(integer(5, "1f9a0a"), 1337);
    assert_eq!(integer(8, "2a"), 42);
}

#[test]
fn appendix_c2_field_representations() {
    check(
        &["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"],
        &expect![[r"
        OffList/10 NotKept/13
        table 55
    "]],
    );
    check(
        &["040c 2f73 616d 706c 652f 7061 7468"],
        &expect![[r"
        Path/5 /sample/path?/12
        table 0
    "]],
    );
    check(
        &["1008 7061 7373 776f 7264 0673 6563 7265 74"],
        &expect![[r"
        OffList/8 NotKept/6
        table 0
    "]],
    );
    check(
        &["82"],
        &expect![[r"
        Method/7 GET/3
        table 0
    "]],
    );
}

#[test]
fn appendix_c3_and_c4_requests_without_and_with_huffman_coding() {
    let expected = expect![[r"
        Method/7 GET/3
        OtherPseudo/7 NotKept/4
        Path/5 /?/1
        OtherPseudo/10 NotKept/15
        table 57
        Method/7 GET/3
        OtherPseudo/7 NotKept/4
        Path/5 /?/1
        OtherPseudo/10 NotKept/15
        OffList/13 NotKept/8
        table 110
        Method/7 GET/3
        OtherPseudo/7 NotKept/5
        Path/5 /index.html?/11
        OtherPseudo/10 NotKept/15
        OffList/10 NotKept/12
        table 164
    "]];
    let plain = [
        "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "8286 84be 5808 6e6f 2d63 6163 6865",
        "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
    ];
    let coded = [
        "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
        "8286 84be 5886 a8eb 1064 9cbf",
        "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
    ];
    check(&plain, &expected);
    check(&coded, &expected);
}

#[test]
fn appendix_c5_and_c6_responses_with_eviction_without_and_with_huffman_coding() {
    // A table of 256 bytes: the examples presuppose it; here an update sets it.
    let expected = expect![[r"
        Status/7 302/3
        OffList/13 NotKept/7
        OffList/4 NotKept/29
        OffList/8 NotKept/23
        table 222
        Status/7 307/3
        OffList/13 NotKept/7
        OffList/4 NotKept/29
        OffList/8 NotKept/23
        table 222
        Status/7 200/3
        OffList/13 NotKept/7
        OffList/4 NotKept/29
        OffList/8 NotKept/23
        Listed(ContentEncoding)/16 gzip/4
        OffList/10 NotKept/56
        table 215
    "]];
    let plain = [
        "3fe101 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d \
         546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
        "4803 3330 37c1 c0bf",
        "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d \
         4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 \
         7369 6f6e 3d31",
    ];
    let coded = [
        "3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 \
         8f0b 97c8 e9ae 82ae 43d3",
        "4883 640e ffc1 c0bf",
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf \
         cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ];
    check(&plain, &expected);
    check(&coded, &expected);
}

#[test]
fn huffman_strings_of_appendix_c_decode_to_their_text() {
    assert_eq!(huffman("f1e3 c2e5 f23a 6ba0 ab90 f4ff").unwrap(), "www.example.com");
    assert_eq!(huffman("25a8 49e9 5bb8 e8b4 bf").unwrap(), "custom-value");
    assert_eq!(huffman("d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff").unwrap(), "Mon, 21 Oct 2013 20:13:21 GMT");
    assert_eq!(huffman("9d29 ad17 1863 c78f 0b97 c8e9 ae82 ae43 d3").unwrap(), "https://www.example.com");
    let cookie = "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07";
    assert_eq!(huffman(cookie).unwrap(), "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");
}

#[test]
fn huffman_padding_is_less_than_a_byte_of_ones() {
    assert!(huffman("1f").unwrap() == "a", "three ones of padding");
    assert!(huffman("18").is_err(), "zeros");
    assert!(huffman("1fff").is_err(), "eleven ones");
    assert!(huffman("ffff ffff").is_err(), "EOS");
}

#[test]
fn table_keeps_only_subject_and_length_of_authorization() {
    // {"sub":"system:serviceaccount:kube-system:informer"}
    let token = "Bearer e30.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6a3ViZS1zeXN0ZW06aW5mb3JtZXIifQ.c2lnbmF0dXJl";
    let mut literal = vec![0x57, u8::try_from(token.len()).unwrap()];
    literal.extend(token.bytes());
    let mut decoder = Decoder::from_beginning();
    let lines = [decode(&mut decoder, &literal).unwrap(), decode(&mut decoder, &[0xbe]).unwrap()].concat();
    expect![[r#"
        Authorization/13 {"kind":"service-account","namespace":"kube-system","name":"informer"}/94
        Authorization/13 {"kind":"service-account","namespace":"kube-system","name":"informer"}/94
    "#]]
    .assert_eq(&lines);
    assert!(!holds(&decoder, b"c2lnbmF0dXJl"), "the signature is nowhere in the decoder");
}

#[test]
fn decoder_never_stores_values_off_the_allow_list() {
    let mut decoder = Decoder::from_beginning();
    // One complete cookie, and half of another, so that the decoder is within it.
    decode(&mut decoder, b"\x60\x06s3cret").unwrap();
    decoder.fragment(b"\x60\x0cs3cret", &mut |_line| {}).unwrap();
    assert!(!holds(&decoder, b"s3cret"));
    // Half of an authorization.
    decoder.lose();
    decoder.fragment(b"\x57\x40Bearer s3cret", &mut |_line| {}).unwrap();
    assert!(!holds(&decoder, b"s3cret"));
    // Control: a value on the allow-list is found.
    let mut decoder = Decoder::from_beginning();
    decode(&mut decoder, b"\x53\x06s3cret").unwrap();
    assert!(holds(&decoder, b"s3cret"));
}

#[test]
fn path_in_the_table_drops_unlisted_parameters() {
    let mut decoder = Decoder::from_beginning();
    let path = b"/api/v1/pods?watch=1&access_token=s3cret";
    let literal = [b"\x44\x28".as_slice(), path].concat();
    assert_eq!(decode(&mut decoder, &literal).unwrap(), "Path/5 /api/v1/pods?watch=1/40\n");
    assert_eq!(decode(&mut decoder, &[0xbe]).unwrap(), "Path/5 /api/v1/pods?watch=1/40\n");
    assert!(!holds(&decoder, b"s3cret"));
}

#[test]
fn long_value_is_cut_but_counts_completely() {
    let mut decoder = Decoder::from_beginning();
    // accept: 2000 bytes.
    let literal = [b"\x53\x7f\xd1\x0e".as_slice(), &[b'x'; 2000]].concat();
    assert_eq!(decode(&mut decoder, &literal).unwrap(), format!("Listed(Accept)/6 {}/2000\n", "x".repeat(1024)));
    assert_eq!(decoder.table_size(), 32 + 6 + 2000);
}

#[test]
fn entry_larger_than_the_table_empties_it() {
    let mut decoder = Decoder::from_beginning();
    decode(&mut decoder, b"\x53\x01x").unwrap();
    decode(&mut decoder, &[b"\x53\x7f\xa1\x1f".as_slice(), &[b'x'; 4128]].concat()).unwrap();
    assert_eq!(decoder.table_size(), 0);
    assert_eq!(decode(&mut decoder, &[0xbe]), Err(CompressionError("index without a table entry")));
}

#[test]
fn unseen_entries_are_unknown_and_later_entries_precede_them() {
    let mut decoder = Decoder::from_middle();
    assert_eq!(decode(&mut decoder, &[0xbe]).unwrap(), "Unknown/? Unknown/?\n");
    assert_eq!(decode(&mut decoder, b"\x53\x01x").unwrap(), "Listed(Accept)/6 x/1\n");
    assert_eq!(decode(&mut decoder, &[0xbe, 0xbf]).unwrap(), "Listed(Accept)/6 x/1\nUnknown/? Unknown/?\n");
    // A literal whose name is a lost entry: its value is not kept, but it takes its place in the table.
    assert_eq!(decode(&mut decoder, b"\x7f\x00\x03abc").unwrap(), "Unknown/? NotKept/3\n");
    assert_eq!(decode(&mut decoder, &[0xbe, 0xbf]).unwrap(), "Unknown/? NotKept/3\nListed(Accept)/6 x/1\n");
}

#[test]
fn unseen_entries_are_evicted_when_the_table_is_full() {
    let mut decoder = Decoder::from_middle();
    // Size 80: room for two entries of 39 bytes, but not for one more.
    decode(&mut decoder, b"\x3f\x31").unwrap();
    decode(&mut decoder, b"\x53\x01x").unwrap();
    assert_eq!(decode(&mut decoder, &[0xbf]).unwrap(), "Unknown/? Unknown/?\n");
    decode(&mut decoder, b"\x53\x01y\x53\x01z").unwrap();
    assert_eq!(decode(&mut decoder, &[0xc0]), Err(CompressionError("index without a table entry")));
}

#[test]
fn lost_block_makes_the_table_unknown() {
    let mut decoder = Decoder::from_beginning();
    decode(&mut decoder, b"\x53\x01x").unwrap();
    decoder.lose();
    assert_eq!(decode(&mut decoder, &[0xbe]).unwrap(), "Unknown/? Unknown/?\n");
}

#[test]
fn huge_table_is_kept_in_bounded_memory() {
    let mut decoder = Decoder::from_beginning();
    decoder.limit_size(u32::MAX);
    decode(&mut decoder, b"\x3f\xe0\xff\xff\xff\x0f").unwrap();
    for _ in 0..10_000 {
        decode(&mut decoder, b"\x53\x01x").unwrap();
    }
    assert!(decoder.table_size() <= 64 * 1024);
    assert_eq!(decode(&mut decoder, b"\xbe\xff\x80\x4b").unwrap(), "Listed(Accept)/6 x/1\nUnknown/? Unknown/?\n");
}

#[test]
fn malformed_blocks_are_refused() {
    for (block, what) in [
        ("80", "index without a table entry"),
        ("be", "index without a table entry"),
        ("7e 0161", "name index without a table entry"),
        ("ff ffff ffff ff01", "integer of more than five bytes"),
        ("ff ffff ffff 7f", "integer above 2^32-1"),
        ("82 20", "table size update after a field"),
        ("3fe2 1f", "table size above SETTINGS_HEADER_TABLE_SIZE"),
        ("53 0578", "header block ends within a field"),
        ("53", "header block ends within a field"),
        ("ff", "header block ends within a field"),
    ] {
        assert_eq!(decode(&mut Decoder::from_beginning(), &hex(block)), Err(CompressionError(what)), "{block}");
    }
}

proptest! {
    #[test]
    fn chunking_changes_nothing(blocks in blocks(), cuts in prop::collection::vec(1..9_usize, 1..9)) {
        let (mut whole, mut chunked) = (Decoder::from_middle(), Decoder::from_middle());
        for block in blocks {
            let expected = decode(&mut whole, &block);
            let mut lines = String::new();
            let mut outcome = Ok(());
            let (mut rest, mut sizes) = (block.as_slice(), cuts.iter().cycle());
            while outcome.is_ok() && !rest.is_empty() {
                let (chunk, behind) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
                outcome = chunked.fragment(chunk, &mut |line| lines.push_str(&render(line)));
                rest = behind;
            }
            let outcome = outcome.and_then(|()| chunked.finish());
            prop_assert_eq!(outcome.map(|()| lines), expected.clone());
            if expected.is_err() {
                break;
            }
        }
    }
}

/// Blocks with most HPACK representations, valid and invalid.
fn blocks() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte | 0x80]),
        (0x41..0x7f_u8, "[a-z]{0,20}").prop_map(|(first, value)| string(&[first], &value)),
        ("[a-z-]{1,9}", "[ -~]{0,200}").prop_map(|(name, value)| string(&string(&[0x40], &name), &value)),
        prop::collection::vec(any::<u8>(), 1..6)
            .prop_map(|coded| { [&[0x53, 0x80 | u8::try_from(coded.len()).unwrap()], coded.as_slice()].concat() }),
    ];
    prop::collection::vec(prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat()), 1..5)
}

fn string(before: &[u8], text: &str) -> Vec<u8> {
    let length = match text.len() {
        short @ ..127 => vec![u8::try_from(short).unwrap()],
        long => vec![127, u8::try_from((long - 127) % 128).unwrap() | 0x80, u8::try_from((long - 127) / 128).unwrap()],
    };
    [before, &length, text.as_bytes()].concat()
}

/// Decodes `blocks` in order, and compares the fields and the table size after each.
#[track_caller]
fn check(blocks: &[&str], expected: &Expect) {
    let mut decoder = Decoder::from_beginning();
    let mut text = String::new();
    for block in blocks {
        text.push_str(&decode(&mut decoder, &hex(block)).unwrap());
        writeln!(text, "table {}", decoder.table_size()).unwrap();
    }
    expected.assert_eq(&text);
}

/// Whether the decoder contains `bytes` anywhere, as text or as bytes.
fn holds(decoder: &Decoder, bytes: &[u8]) -> bool {
    let (inside, as_bytes) = (format!("{decoder:?}"), format!("{bytes:?}"));
    inside.contains(str::from_utf8(bytes).unwrap()) || inside.contains(as_bytes.trim_matches(['[', ']']))
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<String, CompressionError> {
    let mut lines = String::new();
    decoder.fragment(block, &mut |line| lines.push_str(&render(line)))?;
    decoder.finish()?;
    Ok(lines)
}

fn render(line: &FieldLine) -> String {
    let value = match &line.value {
        Value::NotKept => "NotKept".to_owned(),
        Value::Unknown => "Unknown".to_owned(),
        Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Value::Target(target) => format!("{}?{}", target.path, target.query),
        Value::Status(status) => status.to_string(),
        Value::TraceParent(parent) => parent.to_string(),
        Value::Identity(identity) => serde_json::to_string(identity).unwrap(),
    };
    let length = |length: Option<u32>| length.map_or("?".to_owned(), |length| length.to_string());
    assert_eq!(line.name_length.is_none(), line.name == Name::Unknown);
    format!("{:?}/{} {value}/{}\n", line.name, length(line.name_length), length(line.value_length))
}

fn integer(prefix_bits: u32, bytes: &str) -> u32 {
    let bytes = hex(bytes);
    let mut progress = Integer::begin(bytes[0], prefix_bits);
    for byte in &bytes[1..] {
        let Progress::More(integer) = progress else { panic!("over before {byte:#x}") };
        progress = integer.push(*byte).unwrap();
    }
    let Progress::Done(value) = progress else { panic!("not over") };
    value
}

fn huffman(bytes: &str) -> Result<String, CompressionError> {
    let (mut huffman, mut text) = (Huffman::default(), Vec::new());
    huffman.decode(&hex(bytes), |symbol| text.push(symbol))?;
    huffman.finish()?;
    Ok(String::from_utf8(text).unwrap())
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}
