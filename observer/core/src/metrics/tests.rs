//! Pages, and the samples read from them.

use proptest::prelude::*;

use super::*;

const PAGE: &str = r#"# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{code="200",verb="LIST"} 3
requests_total{code="200", verb="GET",} 4 1395066363000
up 1
odd{path="a\"b\\c,}\n",x=""} 0.5 # {trace_id="x"} 1
nan{} NaN
# EOF
"#;

#[test]
fn samples_are_reported_in_order_with_their_labels() {
    let (samples, unread) = read(&[PAGE.as_bytes()], &["code", "verb", "path", "x"]);
    assert_eq!(
        samples,
        [
            "requests_total code=200 verb=LIST 3",
            "requests_total code=200 verb=GET 4",
            "up 1",
            "odd path=a\"b\\c,}\n x= 0.5",
            "nan NaN",
        ]
    );
    assert_eq!(unread, Unread::default());
}

#[test]
fn malformed_lines_are_counted_and_other_samples_still_read() {
    let page = "lonely\na{b=\"c\" 1\na{b} 1\na x\n{} 1\na{b=\"c\n\u{0}\nup 1\n";
    let (samples, unread) = read(&[page.as_bytes(), b"\xFF\xFE 1\ndown 0"], &[]);
    assert_eq!(samples, ["up 1", "down 0"]);
    assert_eq!(unread, Unread { overlong: 0, malformed: 8 });
}

#[test]
fn endless_line_is_skipped_in_bounded_memory() {
    let mut reader = MetricsReader::default();
    let mut samples = Vec::new();
    for _ in 0..1000 {
        reader.push(&[b'x'; 1000], &mut |sample| samples.push(sample.value));
        assert!(reader.memory() <= 128 * 1024);
    }
    reader.push(b"\nup 1\n", &mut |sample| samples.push(sample.value));
    assert_eq!(reader.finish(&mut |sample| samples.push(sample.value)), Unread { overlong: 1, malformed: 0 });
    assert_eq!(samples, [1.0]);
}

#[test]
fn page_of_fifty_megabytes_is_read_in_bounded_memory() {
    const SIZE: usize = 50_000_000;
    let (plain, exemplar) =
        ("requests_total{code=\"200\",verb=\"LIST\"} 3\n", "seconds_bucket{le=\"0.5\"} 7 # {trace_id=\"x\"} 0.4\n");
    for line in [plain, exemplar] {
        let lines = SIZE / line.len() + 1;
        let block = line.repeat(1000);
        let (mut reader, mut samples) = (MetricsReader::default(), 0);
        let mut left = lines * line.len();
        // Chunks that end anywhere in a line.
        for chunk in block.as_bytes().chunks(16_381).cycle() {
            // The first chunk of the next block follows the last of this one, as on a longer page.
            let chunk = &chunk[..chunk.len().min(left)];
            reader.push(chunk, &mut |_| samples += 1);
            assert!(reader.memory() <= 128 * 1024);
            left -= chunk.len();
            if left == 0 {
                break;
            }
        }
        assert_eq!(reader.finish(&mut |_| samples += 1), Unread::default());
        assert_eq!(samples, lines);
    }
}

proptest! {
    #[test]
    fn chunks_change_nothing(cuts in prop::collection::vec(0..PAGE.len(), 0..8)) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let mut parts = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([PAGE.len()]) {
            parts.push(&PAGE.as_bytes()[from..cut]);
            from = cut;
        }
        prop_assert_eq!(read(&parts, &["code", "x"]), read(&[PAGE.as_bytes()], &["code", "x"]));
    }

    #[test]
    fn every_line_is_a_sample_or_counted_as_malformed(bytes in prop::collection::vec(prop::sample::select(b"a{}\"=\\, 1\n#".to_vec()), 0..200)) {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty() && line.trim_ascii()[0] != b'#');
        let (samples, unread) = read(&[&bytes], &["a"]);
        prop_assert_eq!(samples.len() as u64 + unread.malformed, lines.count() as u64);
    }
}

fn read(parts: &[&[u8]], labels: &[&str]) -> (Vec<String>, Unread) {
    let mut samples = Vec::new();
    let mut emitted = |sample: &Sample<'_>| {
        let labels = labels.iter().filter_map(|label| Some(format!(" {label}={}", sample.label(label)?)));
        samples.push(format!("{}{} {}", sample.name, labels.collect::<String>(), sample.value));
    };
    let mut reader = MetricsReader::default();
    for part in parts {
        reader.push(part, &mut emitted);
    }
    let unread = reader.finish(&mut emitted);
    (samples, unread)
}
