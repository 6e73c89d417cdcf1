//! The wrappings that clouds and container runtimes put around a line of a log.
//!
//! Only the places that are listed here are searched. An object may hold a line in a field of its own, or in one more object below.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::MultiGzDecoder;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::aks_table;
use super::audit::MAX_LINE;
use super::text::Text;
use crate::redacted::Redacted;

/// The wrapping of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Envelope {
    /// An entry of `CloudWatch`, as a subscription or the command line gives it (EKS).
    CloudWatch,
    /// An entry of Azure's diagnostic settings, of its Event Hubs or of its tables (AKS).
    Azure,
    /// Docker's driver `json-file`.
    Docker,
    /// The container runtime interface: containerd and CRI-O (Kubernetes `pkg/kubelet/kuberuntime/logs/logs.go`).
    Cri,
    /// The journal of systemd, as text or as JSON.
    Journal,
    /// An object whose field `message` or `@message` has the line.
    Message,
}

impl Envelope {
    /// Its name, as the report shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CloudWatch => "CloudWatch",
            Self::Azure => "Azure",
            Self::Docker => "Docker",
            Self::Cri => "container runtime",
            Self::Journal => "journal",
            Self::Message => "message field",
        }
    }
}

/// Unwraps the lines of one log. It joins the parts of lines that a container runtime has split.
#[derive(Debug, Default)]
pub struct Unwrapper {
    /// The parts of a line so far, of each stream.
    parts: [Redacted<Vec<u8>>; 2],
}

/// A line of the container runtime interface.
struct CriLine<'l> {
    /// 0 for stdout, 1 for stderr.
    stream: usize,
    /// Whether it continues in the next line of its stream.
    is_part: bool,
    text: &'l [u8],
}

#[derive(Deserialize)]
struct Object<'l> {
    #[serde(borrow, default)]
    log: Text<'l>,
    #[serde(borrow, default)]
    message: Text<'l>,
    #[serde(borrow, default, rename = "@message")]
    at_message: Text<'l>,
    #[serde(default, rename = "ingestionTime")]
    ingestion_time: Option<IgnoredAny>,
    #[serde(borrow, default, rename = "MESSAGE")]
    journal_message: Text<'l>,
    #[serde(borrow, default)]
    log_s: Text<'l>,
    #[serde(borrow, default)]
    properties: Option<Properties<'l>>,
    #[serde(borrow, default, rename = "logEvents")]
    log_events: Vec<Entry<'l>>,
    #[serde(borrow, default)]
    events: Vec<Entry<'l>>,
    #[serde(borrow, default)]
    records: Vec<Record<'l>>,
}

#[derive(Deserialize)]
struct Properties<'l> {
    #[serde(borrow, default)]
    log: Text<'l>,
}

#[derive(Deserialize)]
struct Entry<'l> {
    #[serde(borrow, default)]
    message: Text<'l>,
}

#[derive(Deserialize)]
struct Record<'l> {
    #[serde(borrow, default)]
    properties: Option<Properties<'l>>,
}

impl Unwrapper {
    /// Unwraps a line. `each` receives the lines inside, from the outermost envelope to the innermost; it returns whether it has
    /// understood the line, and if so, nothing is looked for in it.
    pub fn unwrap(&mut self, line: &[u8], each: &mut dyn FnMut(Option<Envelope>, &[u8]) -> bool) -> bool {
        // Spaces at the end of a part belong to its line.
        let line = line.strip_suffix(b"\r").unwrap_or(line).trim_ascii_start();
        each(None, line.trim_ascii_end()) || self.look_inside(line, 0, each)
    }

    /// Notes that there are no further lines. Returns the number of lines of which parts have come, but not the last one.
    pub fn finish(&mut self) -> u64 {
        std::mem::take(&mut self.parts).iter().filter(|parts| !parts.is_empty()).count() as u64
    }

    fn look_inside(&mut self, line: &[u8], depth: usize, each: &mut dyn FnMut(Option<Envelope>, &[u8]) -> bool) -> bool {
        /// Number of envelopes around a line.
        const DEPTH: usize = 2;
        if depth == DEPTH {
            return false;
        }
        let mut inside = |this: &mut Self, envelope, text: &[u8]| {
            let text = text.trim_ascii();
            each(Some(envelope), text) || this.look_inside(text, depth + 1, each)
        };
        if line.first() == Some(&b'{') {
            if let Some(event) = aks_table::event(line) {
                return inside(self, Envelope::Azure, event.as_bytes());
            }
            let Ok(object) = serde_json::from_slice::<Object<'_>>(line) else { return false };
            let mut is_understood = false;
            for (envelope, text) in object.lines() {
                is_understood |= inside(self, envelope, text.as_bytes());
            }
            return is_understood;
        }
        if let Some(CriLine { stream, is_part, text }) = cri(line) {
            let Some(parts) = self.parts.get_mut(stream) else { return false };
            if is_part || !parts.is_empty() {
                let room = MAX_LINE.saturating_sub(parts.len());
                parts.0.extend_from_slice(text.get(..text.len().min(room)).unwrap_or_default());
            }
            if is_part {
                return true;
            }
            let joined = std::mem::take(&mut parts.0);
            return inside(self, Envelope::Cri, if joined.is_empty() { text } else { &joined });
        }
        if let Some(text) = timed(line) {
            // The object may begin on the next line.
            return text.is_empty() || inside(self, Envelope::CloudWatch, text);
        }
        if let Some(text) = journal(line) {
            return inside(self, Envelope::Journal, text);
        }
        subscription(line).is_some_and(|text| self.look_inside(&text, depth, each))
    }
}

impl Object<'_> {
    /// The texts in it that may be lines, with the envelope that each shows.
    fn lines(&self) -> impl Iterator<Item = (Envelope, &str)> {
        let own = [
            (Envelope::Docker, &self.log),
            (Envelope::Azure, &self.log_s),
            (Envelope::Journal, &self.journal_message),
            (if self.ingestion_time.is_some() { Envelope::CloudWatch } else { Envelope::Message }, &self.message),
            (Envelope::Message, &self.at_message),
        ];
        let properties = self.records.iter().filter_map(|record| record.properties.as_ref()).chain(&self.properties);
        let entries = self.log_events.iter().chain(&self.events);
        own.into_iter()
            .chain(properties.map(|properties| (Envelope::Azure, &properties.log)))
            .chain(entries.map(|entry| (Envelope::CloudWatch, &entry.message)))
            .filter_map(|(envelope, text)| Some((envelope, text.get()?)))
    }
}

/// `TIME stdout F LINE`.
fn cri(line: &[u8]) -> Option<CriLine<'_>> {
    let mut fields = line.splitn(4, |byte| *byte == b' ');
    let (time, stream, tags, text) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let stream = [&b"stdout"[..], b"stderr"].iter().position(|known| *known == stream)?;
    let is_part = match tags {
        b"F" => false,
        b"P" => true,
        _other => return None,
    };
    is_time(time).then_some(CriLine { stream, is_part, text })
}

/// `TIME LINE` or `TIME STREAM LINE`, as `CloudWatch` exports lines and `aws logs tail` prints them: the line, if it is an object.
/// `aws logs tail --format json` writes the object on lines of its own; then the line is empty.
fn timed(line: &[u8]) -> Option<&[u8]> {
    let mut fields = line.splitn(3, |byte| *byte == b' ');
    let (time, stream) = (fields.next()?, fields.next()?);
    if !is_time(time) {
        return None;
    }
    let text = if stream.starts_with(b"{") { line.get(time.len()..)? } else { fields.next()? };
    let text = text.trim_ascii();
    (text.is_empty() || text.starts_with(b"{")).then_some(text)
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
    Some(text)
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
                found.extend(is_it.then_some(envelope));
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
    fn unfinished_parts_are_counted() {
        let mut unwrapper = Unwrapper::default();
        for stream in ["stdout", "stderr", "stderr"] {
            assert!(unwrapper.unwrap(format!("2026-11-22T02:00:00.1Z {stream} P the").as_bytes(), &mut |_, _| false));
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
            assert!(unwrapper.unwrap(line.as_bytes(), &mut |_, text| text == br#"{"a": 1}"#), "{line}");
        }
        assert!(unwrapper.unwrap(b"2026-11-22T02:00:00.123000+00:00 kube-apiserver-audit-1a2b ", &mut |_, _| false));
        assert!(!unwrapper.unwrap(b"2026-11-22T02:00:00.123Z text {", &mut |_, _| false));
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
