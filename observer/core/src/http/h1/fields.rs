//! The field lines of a head, and the parts of them that are kept (RFC 9112 §5).

use super::framing::Framing;
use super::lines::Line;
use super::start_line::is_token;
use crate::http::headers::MAX_VALUE;
use crate::http::{Field, HeaderName, Headers, Identity, TraceParent};
use crate::redacted::Redacted;

/// The fields of one head so far.
///
/// Only values of allow-listed fields are copied out of their lines; those of `Authorization` and `traceparent` are not.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Allow-listed fields.
    pub(super) headers: Headers,
    /// The sender's identity, from the first `Authorization`.
    pub(super) identity: Field<Identity>,
    /// The sender's trace, from the only `traceparent`.
    pub(super) traceparent: Field<Box<TraceParent>>,
    /// How the body is framed.
    pub(super) framing: Framing,
    open: Open,
    /// The kept value of the open field, at most [`MAX_VALUE`] bytes of it.
    value: Redacted<Vec<u8>>,
    /// Whether the value was longer, so that its end is missing.
    cut: bool,
}

/// The field that the next line may continue (obs-fold, RFC 9112 §5.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    /// No field line has been read.
    #[default]
    Nothing,
    /// A field that is not kept.
    Dropped,
    /// The first `Authorization`.
    Authorization,
    /// A `traceparent`.
    TraceParent,
    /// A field whose value is being assembled.
    Kept(HeaderName),
}

impl Fields {
    /// Reads a line that is not empty; the error describes an invalid one.
    pub(super) fn read(&mut self, line: &Line<'_>) -> Result<(), &'static str> {
        match line.text {
            [b' ' | b'\t', ..] => self.continue_field(line),
            _ => self.begin_field(line),
        }
    }

    /// Ends the last field, after the last line.
    pub(super) fn close(&mut self) -> Result<(), &'static str> {
        if let Open::Kept(name) = self.open {
            self.keep(name)?;
        }
        self.open = Open::Nothing;
        self.value.0.clear();
        Ok(())
    }

    fn begin_field(&mut self, line: &Line<'_>) -> Result<(), &'static str> {
        self.close()?;
        let colon = memchr::memchr(b':', line.text).ok_or("field line without a colon")?;
        let (name, value) = line.text.split_at_checked(colon).ok_or("field line without a colon")?;
        if !is_token(name) {
            return Err("field name is not a token");
        }
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
        self.cut = line.cut;
        self.open = self.open_field(name, value);
        Ok(())
    }

    fn open_field(&mut self, name: &[u8], value: &[u8]) -> Open {
        if name.eq_ignore_ascii_case(b"authorization") {
            return self.open_authorization(value);
        }
        if name.eq_ignore_ascii_case(b"traceparent") {
            self.traceparent = match self.traceparent {
                Field::Absent => TraceParent::parse(value).map_or(Field::Unknown, |valid| Field::Known(Box::new(valid))),
                // Of several, none is valid.
                Field::Known(_) | Field::Unknown => Field::Unknown,
            };
            return Open::TraceParent;
        }
        let Some(name) = HeaderName::of(name) else { return Open::Dropped };
        self.append(value);
        Open::Kept(name)
    }

    fn open_authorization(&mut self, value: &[u8]) -> Open {
        if self.identity != Field::Absent {
            return Open::Dropped;
        }
        self.identity = Field::Known(Identity::from_authorization(value));
        Open::Authorization
    }

    fn continue_field(&mut self, line: &Line<'_>) -> Result<(), &'static str> {
        match self.open {
            Open::Nothing => return Err("first field line is a continuation"),
            Open::Dropped => {}
            // The first line was already reduced to an identity, and its text is not kept.
            Open::Authorization => self.identity = Field::Unknown,
            Open::TraceParent => self.traceparent = Field::Unknown,
            Open::Kept(_) => {
                self.append(b" ");
                self.append(line.text.trim_ascii());
                self.cut |= line.cut;
            }
        }
        Ok(())
    }

    fn append(&mut self, value: &[u8]) {
        let room = MAX_VALUE.saturating_sub(self.value.0.len());
        self.cut |= value.len() > room;
        self.value.0.extend_from_slice(value.get(..room).unwrap_or(value));
    }

    fn keep(&mut self, name: HeaderName) -> Result<(), &'static str> {
        match name {
            HeaderName::ContentLength | HeaderName::TransferEncoding if self.cut => return Err("framing field is too long"),
            HeaderName::ContentLength => self.framing.note_content_length(&self.value.0),
            HeaderName::TransferEncoding => self.framing.note_transfer_encoding(&self.value.0),
            HeaderName::Accept
            | HeaderName::AuditId
            | HeaderName::Connection
            | HeaderName::ContentEncoding
            | HeaderName::ContentType
            | HeaderName::Expect
            | HeaderName::KubectlCommand
            | HeaderName::RetryAfter
            | HeaderName::Upgrade
            | HeaderName::UserAgent
            | HeaderName::Warning
            | HeaderName::FlowSchemaUid
            | HeaderName::PriorityLevelUid => {}
        }
        self.headers.insert(name, Field::Known(&self.value.0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, HeaderName, Line, MAX_VALUE};
    use crate::http::{Field, Identity};

    #[test]
    fn only_listed_fields_are_kept_in_any_case_without_outer_whitespace() {
        let fields = read(&["USER-AGENT: \tkubectl/v1.34.1 \t", "X-Remote-User: admin", "accept:*/*"]);
        assert_eq!(fields.headers.get(HeaderName::UserAgent), Field::Known("kubectl/v1.34.1"));
        assert_eq!(fields.headers.get(HeaderName::Accept), Field::Known("*/*"));
        assert_eq!(fields.headers.get(HeaderName::ContentType), Field::Absent);
        assert!(!format!("{fields:?}").contains("admin"));
    }

    #[test]
    fn a_folded_value_is_one_value() {
        let fields = read(&["Accept: application/json,", "   application/yaml", "\t*/*", "Host: x"]);
        assert_eq!(fields.headers.get(HeaderName::Accept), Field::Known("application/json, application/yaml */*"));
    }

    #[test]
    fn a_folded_authorization_is_unknown_and_a_second_one_is_ignored() {
        assert_eq!(read(&["Authorization: Bearer", " token"]).identity, Field::Unknown);
        let twice = read(&["Authorization: Bearer token", "Authorization: Basic dTpw", " x"]);
        assert_eq!(twice.identity, Field::Known(Identity::Bearer));
    }

    #[test]
    fn only_one_valid_traceparent_is_kept() {
        const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let kept = |lines: &[&str]| read(lines).traceparent.known().map(|parsed| parsed.to_string());
        let line = format!("TraceParent: {VALID} ");
        assert_eq!(kept(&[&line]).as_deref(), Some(VALID));
        for lines in [vec![&*line, &*line], vec![&*line, "traceparent: x"], vec![&*line, " folded"], vec!["traceparent: c4n4ry"]] {
            assert_eq!(kept(&lines), None, "{lines:?}");
        }
        assert!(!format!("{:?}", read(&["traceparent: c4n4ry"])).contains("c4n4ry"));
    }

    #[test]
    fn a_long_value_is_cut_unless_it_frames_the_body() {
        let long = "x".repeat(MAX_VALUE + 1);
        let fields = read(&[&format!("User-Agent: {long}")]);
        assert_eq!(fields.headers.get(HeaderName::UserAgent), Field::Known(&long[1..]));
        assert_eq!(try_read(&[&format!("Transfer-Encoding: {long}")]).err(), Some("framing field is too long"));
    }

    #[test]
    fn invalid_field_lines_are_rejected() {
        for (line, what) in [
            ("no colon", "field line without a colon"),
            (": value", "field name is not a token"),
            ("Host : value", "field name is not a token"),
            (" folded", "first field line is a continuation"),
        ] {
            assert_eq!(try_read(&[line]).err(), Some(what), "{line}");
        }
    }

    #[track_caller]
    fn read(lines: &[&str]) -> Fields {
        try_read(lines).unwrap()
    }

    fn try_read(lines: &[&str]) -> Result<Fields, &'static str> {
        let mut fields = Fields::default();
        for line in lines {
            fields.read(&Line { text: line.as_bytes(), cut: false, at: 0 })?;
        }
        fields.close()?;
        Ok(fields)
    }
}
