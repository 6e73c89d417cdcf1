//! Unwraps lines.

use std::borrow::Cow;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;

use super::kind::{Envelope, Wrapping};
use super::object::{Object, stream_of};
use crate::logs::aks_table;
use crate::logs::audit::MAX_LINE;
use crate::logs::klog::zoned;
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// The result for a line and the lines in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unwrapped {
    /// Whether the line, or a line in it, was understood.
    pub is_understood: bool,
    /// Number of lines that were not.
    pub lost: u64,
}

impl Unwrapped {
    /// Of a line without others in it.
    pub(in crate::logs) fn one(is_understood: bool) -> Self {
        Self { is_understood, lost: u64::from(!is_understood) }
    }

    pub(in crate::logs) fn and(self, other: Self) -> Self {
        Self { is_understood: self.is_understood || other.is_understood, lost: self.lost.saturating_add(other.lost) }
    }
}

/// Receives the texts of a line, from the outermost to the innermost. Returns whether it has understood the text; if so, nothing is looked for
/// in it.
type Each<'e> = dyn FnMut(Option<Wrapping>, &[u8]) -> bool + 'e;

/// Length of a part of a line that Docker has split, in bytes (moby/moby `daemon/logger/copier.go`, `defaultBufSize`). The last part has a line
/// feed at its end.
const DOCKER_PART: usize = 16 << 10;

/// Unwraps the lines of one log. It joins the parts of lines that a container runtime has split.
#[derive(Debug, Default)]
pub struct Unwrapper {
    /// The parts of a line so far, of each stream.
    parts: [Redacted<Vec<u8>>; 2],
}

/// A line of the container runtime interface.
struct CriLine<'l> {
    at: Option<Timestamp>,
    /// 0 for stdout, 1 for stderr.
    stream: usize,
    /// Whether it continues in the next line of its stream.
    is_part: bool,
    text: &'l [u8],
}

impl Unwrapper {
    /// Unwraps a line. `each` gets the line itself, and then those in it. They may begin with white space.
    pub fn unwrap(&mut self, line: &[u8], each: &mut Each<'_>) -> Unwrapped {
        // Spaces at the end of a part belong to its line.
        let line = line.strip_suffix(b"\r").unwrap_or(line).trim_ascii_start();
        if each(None, line.trim_ascii_end()) { Unwrapped::one(true) } else { self.look_inside(line, (0, None), each) }
    }

    /// Notes that there are no further lines. Returns the number of lines of which parts have come, but not the last one.
    pub fn finish(&mut self) -> u64 {
        std::mem::take(&mut self.parts).iter().filter(|parts| !parts.is_empty()).count() as u64
    }

    fn look_inside(&mut self, line: &[u8], (depth, at): (usize, Option<Timestamp>), each: &mut Each<'_>) -> Unwrapped {
        /// Number of envelopes around a line.
        const DEPTH: usize = 2;
        if depth == DEPTH {
            return Unwrapped::one(false);
        }
        let mut inside = |this: &mut Self, envelope, stated: Option<Timestamp>, text: &[u8]| {
            let (at, text) = (stated.or(at), text.trim_ascii_end());
            if each(Some(Wrapping { envelope, at }), text) {
                return Unwrapped::one(true);
            }
            this.look_inside(text.trim_ascii_start(), (depth + 1, at), each)
        };
        if line.first() == Some(&b'{') {
            if let Some(event) = aks_table::event(line) {
                return inside(self, Envelope::Azure, None, event.as_bytes());
            }
            let Ok(object) = serde_json::from_slice::<Object<'_>>(line) else { return Unwrapped::one(false) };
            if let Some((stream, text)) = object.of_docker() {
                let is_part = text.len() == DOCKER_PART && !text.ends_with('\n');
                let Some(text) = self.join(stream, text.as_bytes(), is_part) else { return Unwrapped::one(true) };
                return inside(self, Envelope::Docker, object.at(), &text);
            }
            let own = object.own_lines().map(|(envelope, text)| inside(self, envelope, object.at(), text.as_bytes()));
            let own = own.filter(|unwrapped| unwrapped.is_understood).fold(Unwrapped::default(), Unwrapped::and);
            let lines = object.lines().map(|(envelope, at, text)| inside(self, envelope, at, text.as_bytes()));
            let all = lines.fold(own, Unwrapped::and);
            return if all == Unwrapped::default() { Unwrapped::one(false) } else { all };
        }
        if let Some(CriLine { at, stream, is_part, text }) = cri(line) {
            let Some(text) = self.join(stream, text, is_part) else { return Unwrapped::one(true) };
            return inside(self, Envelope::Cri, at, &text);
        }
        if let Some((at, text)) = timed(line) {
            // The object may begin on the next line.
            return if text.trim_ascii().is_empty() { Unwrapped::one(true) } else { inside(self, Envelope::CloudWatch, at, text) };
        }
        if let Some(text) = journal(line) {
            return inside(self, Envelope::Journal, None, text);
        }
        subscription(line).map_or(Unwrapped::one(false), |text| self.look_inside(&text, (depth, at), each))
    }

    /// Joins the parts of a line of this stream. `None` if more parts follow.
    fn join<'l>(&mut self, stream: usize, text: &'l [u8], is_part: bool) -> Option<Cow<'l, [u8]>> {
        let parts = self.parts.get_mut(stream)?;
        if !is_part && parts.is_empty() {
            return Some(Cow::Borrowed(text));
        }
        let room = MAX_LINE.saturating_sub(parts.len());
        parts.0.extend_from_slice(text.get(..text.len().min(room)).unwrap_or_default());
        (!is_part).then(|| Cow::Owned(std::mem::take(&mut parts.0)))
    }
}

/// `TIME stdout F LINE`.
fn cri(line: &[u8]) -> Option<CriLine<'_>> {
    let mut fields = line.splitn(4, |byte| *byte == b' ');
    let (time, stream, tags, text) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let stream = stream_of(stream)?;
    let is_part = match tags {
        b"F" => false,
        b"P" => true,
        _other => return None,
    };
    is_time(time).then(|| CriLine { at: time_of(time), stream, is_part, text })
}

/// `TIME LINE` or `TIME STREAM LINE`, as `CloudWatch` exports lines, and as `aws logs tail` and `kubectl logs --timestamps` print them: the
/// line, if it is an object or a record of klog. `aws logs tail --format json` writes the object on lines of its own; then the line is empty.
fn timed(line: &[u8]) -> Option<(Option<Timestamp>, &[u8])> {
    let after_word = |text: &'_ [u8]| text.iter().position(|byte| *byte == b' ').map(|space| (space, space + 1));
    let (end, begin) = after_word(line)?;
    let (time, line) = (line.get(..end)?, line.get(begin..)?);
    if !is_time(time) {
        return None;
    }
    let text = if is_line(line) { line } else { line.get(after_word(line)?.1..)? };
    (text.trim_ascii().is_empty() || is_line(text)).then(|| (time_of(time), text))
}

/// Whether a text begins as an object, a record of klog, a further line of its values, or a line of a trace does.
fn is_line(text: &[u8]) -> bool {
    if text.starts_with(b"\t") || text.starts_with(b" >") {
        return true;
    }
    let text = text.trim_ascii_start();
    let is_klog = matches!(text, [b'I' | b'W' | b'E' | b'F', digits @ ..]
        if digits.len() >= 4 && digits.iter().take(4).all(u8::is_ascii_digit));
    is_klog || text.starts_with(b"{") || text.starts_with(b"Trace[")
}

fn time_of(word: &[u8]) -> Option<Timestamp> {
    std::str::from_utf8(word).ok().and_then(zoned)
}

/// Whether a word begins as a time does: `2026-11-22T02:00:00`.
fn is_time(word: &[u8]) -> bool {
    let place = |at: usize, byte: u8| word.get(at) == Some(&byte);
    word.len() >= 19 && place(4, b'-') && place(7, b'-') && place(10, b'T') && place(13, b':') && place(16, b':')
}

/// `Mon DD hh:mm:ss host unit[pid]: LINE`, as journalctl and syslog write it: the text of the line.
fn journal(line: &[u8]) -> Option<&[u8]> {
    const MONTHS: [&[u8]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    let head = line.get(..16)?;
    let is_time = MONTHS.iter().any(|month| head.starts_with(month)) && head.get(9) == Some(&b':') && head.get(12) == Some(&b':');
    if !is_time {
        return None;
    }
    // The host and the unit have no spaces.
    let mut fields = line.get(16..)?.splitn(3, |byte| *byte == b' ');
    let (_host, unit, text) = (fields.next()?, fields.next()?, fields.next()?);
    unit.ends_with(b":").then_some(text)
}

/// The object in a record of a `CloudWatch` subscription, which is base64 of gzip.
#[expect(clippy::disallowed_methods, reason = "what is read of it is bounded")]
fn subscription(line: &[u8]) -> Option<Vec<u8>> {
    let packed = STANDARD.decode(line).ok().filter(|packed| packed.starts_with(&[0x1f, 0x8b]))?;
    let mut text = Vec::new();
    MultiGzDecoder::new(packed.as_slice()).take(MAX_LINE as u64).read_to_end(&mut text).ok()?;
    // So no record can be inside of another one, which would take memory for each.
    text.starts_with(b"{").then_some(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// The text of a row of Azure's tables.
    const ROW: &[u8] = br#"{"auditID":"a","stage":"Panic","verb":"get","requestURI":"/","user":{"username":"u"}}"#;

    /// The lines `the line` that are found, each with the envelope in which it was.
    fn found(lines: &[&str]) -> Vec<Option<Envelope>> {
        let mut unwrapper = Unwrapper::default();
        let mut found = Vec::new();
        for line in lines {
            unwrapper.unwrap(line.as_bytes(), &mut |envelope, text| {
                let is_it = text == b"the line" || text == ROW;
                found.extend(is_it.then_some(envelope.map(|wrapping| wrapping.envelope)));
                is_it
            });
        }
        found
    }

    #[test]
    fn each_envelope_is_recognised() {
        // Forms of the vendors' documentation and of elastic/integrations, shortened.
        for (line, envelope) in [
            ("the line", None),
            (r#"{"log":"the line\n","stream":"stderr","time":"2026-11-22T02:00:00Z"}"#, Some(Envelope::Docker)),
            ("2026-11-22T02:00:00.123456789Z stderr F the line", Some(Envelope::Cri)),
            ("Nov 22 02:00:00 node-1 kube-apiserver[812]: the line", Some(Envelope::Journal)),
            (r#"{"MESSAGE":"the line","_PID":"812"}"#, Some(Envelope::Journal)),
            (r#"{"message":"the line"}"#, Some(Envelope::Message)),
            (r#"{"timestamp":1,"message":"the line","ingestionTime":1}"#, Some(Envelope::CloudWatch)),
            (r#"{"@timestamp":"2026","@message":"the line"}"#, Some(Envelope::Message)),
            (r#"{"log_s":"the line","pod_s":"kube-apiserver-1"}"#, Some(Envelope::Azure)),
            (r#"{"category":"kube-audit","properties":{"log":"the line","stream":"stdout"},"time":"2026"}"#, Some(Envelope::Azure)),
            (
                r#"{"AuditId":"a","Stage":"Panic","Verb":"get","RequestUri":"/","User":"{\"username\":\"u\"}","Level":null,"PodName":"p"}"#,
                Some(Envelope::Azure),
            ),
            (r#"{"records":[{"category":"kube-audit","properties":{"log":"the line"}}]}"#, Some(Envelope::Azure)),
            (
                r#"{"messageType":"DATA_MESSAGE","logEvents":[{"id":"1","timestamp":1478014822000,"message":"the line"}]}"#,
                Some(Envelope::CloudWatch),
            ),
            (
                r#"{"events":[{"logStreamName":"kube-apiserver-audit-1","message":"the line","ingestionTime":1}]}"#,
                Some(Envelope::CloudWatch),
            ),
        ] {
            assert_eq!(found(&[line]), [envelope], "{line}");
        }
    }

    #[test]
    fn two_envelopes_around_a_line_are_opened_and_not_more() {
        let docker = r#"{"log":"{\"message\":\"the line\"}"}"#;
        assert_eq!(found(&[docker]), [Some(Envelope::Message)]);
        let three = format!("2026-11-22T02:00:00.123456789Z stdout F {docker}");
        assert_eq!(found(&[&three]), [] as [Option<Envelope>; 0]);
    }

    #[test]
    fn parts_of_a_line_are_joined() {
        let parts = ["2026-11-22T02:00:00.123456789Z stderr P the", "2026-11-22T02:00:00.123456790Z stderr F  line"];
        assert_eq!(found(&parts), [Some(Envelope::Cri)]);
        assert_eq!(found(&[parts[0], parts[1], "2026-11-22T02:00:01.123456790Z stderr F the line"]), [Some(Envelope::Cri); 2]);
    }

    #[test]
    fn parts_keep_their_spaces_and_their_streams() {
        let of = |stream: &str, rest: &str| format!("2026-11-22T02:00:00.123456789Z {stream} {rest}");
        let lines = [
            of("stdout", "P the "),
            of("stderr", "F the line\r"),
            of("stderr", "P the"),
            of("stdout", "F line\r"),
            of("stderr", "F  line"),
        ];
        assert_eq!(found(&lines.each_ref().map(String::as_str)), [Some(Envelope::Cri); 3]);
    }

    #[test]
    fn parts_of_docker_are_joined() {
        let (first, rest) = ("a".repeat(DOCKER_PART), "b\\n");
        let of = |stream: &str, text: &str| format!(r#"{{"log":"{text}","stream":"{stream}","time":"2026-11-22T02:00:00Z"}}"#);
        let mut unwrapper = Unwrapper::default();
        let mut found = Vec::new();
        for line in [of("stdout", &first), of("stderr", "c\\n"), of("stdout", rest), of("stdout", "no line feed")] {
            unwrapper.unwrap(line.as_bytes(), &mut |wrapping, text| {
                found.extend(wrapping.map(|_| text.len()));
                wrapping.is_some()
            });
        }
        assert_eq!(found, [1, DOCKER_PART + 1, 12]);
    }

    #[test]
    fn lines_in_an_array_are_counted_one_by_one() {
        let entries = |texts: &[&str]| {
            let entries: Vec<String> = texts.iter().map(|text| format!(r#"{{"message":"{text}"}}"#)).collect();
            format!(r#"{{"message":"of the batch","logEvents":[{}]}}"#, entries.join(","))
        };
        for (texts, is_understood, lost) in
            [(&["x", "y", "y"][..], true, 2), (&["y", "y"], false, 2), (&[], false, 1), (&["x"], true, 0)]
        {
            let unwrapped = Unwrapper::default().unwrap(entries(texts).as_bytes(), &mut |_, text| text == b"x");
            assert_eq!(unwrapped, Unwrapped { is_understood, lost }, "{texts:?}");
        }
    }

    #[test]
    fn envelopes_state_the_time_of_their_lines() {
        let at = Timestamp::from_rfc3339("2026-11-22T02:00:00.5Z");
        for line in [
            r#"{"log":"x\n","stream":"stderr","time":"2026-11-22T02:00:00.5Z"}"#,
            "2026-11-22T02:00:00.500000000Z stderr F x",
            "2026-11-22T03:00:00.5+01:00 stderr F x",
            r#"{"timestamp":1795312800500,"message":"x","ingestionTime":1}"#,
            r#"{"logEvents":[{"id":"1","timestamp":1795312800500,"message":"x"}]}"#,
            r#"{"time":"2026-11-22T02:00:00.5Z","properties":{"log":"x"}}"#,
            r#"{"records":[{"time":"2026-11-22T02:00:00.5Z","properties":{"log":"x"}}]}"#,
        ] {
            let mut stated = None;
            Unwrapper::default().unwrap(line.as_bytes(), &mut |wrapping, text| {
                stated = wrapping.and_then(|wrapping| wrapping.at);
                text == b"x"
            });
            assert_eq!(stated, at, "{line}");
        }
        let mut stated = Some(at);
        Unwrapper::default().unwrap(br#"{"timestamp":"2026","message":"x"}"#, &mut |wrapping, _| {
            stated = wrapping.map(|wrapping| wrapping.at);
            false
        });
        assert_eq!(stated, Some(None));
    }

    #[test]
    fn record_inside_a_record_is_not_opened() {
        let pack = |text: &str| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(text.as_bytes()).unwrap();
            STANDARD.encode(packed.finish().unwrap())
        };
        let record = pack(r#"{"logEvents":[{"message":"the line"}]}"#);
        assert_eq!(found(&[&pack(&record)]), [] as [Option<Envelope>; 0]);
    }

    #[test]
    fn unfinished_parts_are_counted() {
        let mut unwrapper = Unwrapper::default();
        for stream in ["stdout", "stderr", "stderr"] {
            assert!(unwrapper.unwrap(format!("2026-11-22T02:00:00.1Z {stream} P the").as_bytes(), &mut |_, _| false).is_understood);
        }
        assert_eq!((unwrapper.finish(), unwrapper.finish()), (2, 0));
    }

    #[test]
    fn object_after_its_time_is_found() {
        let mut unwrapper = Unwrapper::default();
        for line in [
            r#"2026-11-22T02:00:00.123Z {"a": 1}"#,
            r#"2026-11-22T02:00:00 {"a": 1}"#,
            r#"2026-11-22T02:00:00.123000+00:00 kube-apiserver-audit-1a2b {"a": 1}"#,
        ] {
            assert!(unwrapper.unwrap(line.as_bytes(), &mut |_, text| text == br#"{"a": 1}"#).is_understood, "{line}");
        }
        assert!(unwrapper.unwrap(b"2026-11-22T02:00:00.123000+00:00 kube-apiserver-audit-1a2b ", &mut |_, _| false).is_understood);
        assert!(!unwrapper.unwrap(b"2026-11-22T02:00:00.123Z text {", &mut |_, _| false).is_understood);
        for (line, text) in [
            ("2026-11-22T02:00:00.123Z I1122 02:00:00.123456 1 a.go:1] b", "I1122 02:00:00.123456 1 a.go:1] b"),
            ("2026-11-22T02:00:00.123Z kube-apiserver-1a2b W1122 02:00:00.123456 1 a.go:1] b", "W1122 02:00:00.123456 1 a.go:1] b"),
            ("2026-11-22T02:00:00.123Z kube-apiserver-1a2b Trace[1]: [1ms] [1ms] END", "Trace[1]: [1ms] [1ms] END"),
        ] {
            assert!(unwrapper.unwrap(line.as_bytes(), &mut |_, inside| inside == text.as_bytes()).is_understood, "{line}");
        }
    }

    #[test]
    fn packed_record_of_a_subscription_is_opened() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(br#"{"logEvents":[{"message":"the line"}]}"#).unwrap();
        let record = STANDARD.encode(packed.finish().unwrap());
        assert_eq!(found(&[&record]), [Some(Envelope::CloudWatch)]);
    }

    #[test]
    fn other_text_has_no_envelope() {
        for line in
            ["", "{", "{}", "Nov 22", "Nov 22 02:00:00 host the line", "2026-11-22T02:00:00.1Z stderr X the line", "dGhlIGxpbmU="]
        {
            assert_eq!(found(&[line]), [] as [Option<Envelope>; 0], "{line}");
        }
    }
}
