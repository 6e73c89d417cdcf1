//! Finds the length of a message's body (RFC 9112 §6.3).

use super::body::Body;
use super::pairing::Method;
use super::start_line::Version;

/// The fields of one head that frame its body.
#[derive(Debug, Default)]
pub(super) struct Framing {
    length: ContentLength,
    coding: TransferCoding,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ContentLength {
    #[default]
    Absent,
    Known(u64),
    /// Not a number, or several that differ. An error only if it frames the body.
    Invalid,
}

/// The last transfer coding, which is the outermost one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TransferCoding {
    #[default]
    Absent,
    Chunked,
    /// Any other coding; its end cannot be found without decoding it.
    Other,
}

impl Framing {
    /// Notes a `Content-Length`. The same length again, in a list or in another field, is harmless (RFC 9110 §8.6).
    pub(super) fn note_content_length(&mut self, value: &[u8]) {
        for member in value.split(|byte| *byte == b',') {
            self.length = match (self.length, decimal(member.trim_ascii())) {
                (ContentLength::Absent, Some(length)) => ContentLength::Known(length),
                (ContentLength::Known(before), Some(length)) if before == length => ContentLength::Known(length),
                (ContentLength::Absent | ContentLength::Known(_) | ContentLength::Invalid, _) => ContentLength::Invalid,
            };
        }
    }

    /// Notes a `Transfer-Encoding`; several fields form one list.
    pub(super) fn note_transfer_encoding(&mut self, value: &[u8]) {
        for coding in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|coding| !coding.is_empty()) {
            self.coding = if coding.eq_ignore_ascii_case(b"chunked") { TransferCoding::Chunked } else { TransferCoding::Other };
        }
    }

    /// The body of a request; the error states why its end cannot be found.
    pub(super) fn of_request(&self, version: Version) -> Result<Body, &'static str> {
        match self.coding_in(version) {
            TransferCoding::Chunked => Ok(Body::chunked()),
            TransferCoding::Other => Err("chunked is not the last transfer coding of the request"),
            TransferCoding::Absent => self.by_length(Body::EMPTY),
        }
    }

    /// The body of a final response to a request with `method`, unless it opens a tunnel.
    pub(super) fn of_response(&self, version: Version, status: u16, method: Method) -> Result<Body, &'static str> {
        if method == Method::Head || matches!(status, 204 | 304) {
            return Ok(Body::EMPTY);
        }
        match self.coding_in(version) {
            TransferCoding::Chunked => Ok(Body::chunked()),
            TransferCoding::Other => Ok(Body::UntilEnd),
            TransferCoding::Absent => self.by_length(Body::UntilEnd),
        }
    }

    /// HTTP/1.0 has no transfer codings; net/http ignores the field there (`transfer.go`, `parseTransferEncoding`).
    fn coding_in(&self, version: Version) -> TransferCoding {
        match version {
            Version::Http10 => TransferCoding::Absent,
            Version::Http11 => self.coding,
        }
    }

    fn by_length(&self, without: Body) -> Result<Body, &'static str> {
        match self.length {
            ContentLength::Absent => Ok(without),
            ContentLength::Known(length) => Ok(Body::Length(length)),
            ContentLength::Invalid => Err("content-length is not one number"),
        }
    }
}

fn decimal(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits.then(|| str::from_utf8(text).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{Body, Framing, Method, Version};

    #[test]
    fn request_framing_follows_its_fields() {
        for (fields, expected) in [
            ("", "0"),
            ("cl:0", "0"),
            ("cl:17", "17"),
            ("cl:17 cl:17", "17"),
            ("cl:17,17", "17"),
            ("cl:17 cl:18", "content-length is not one number"),
            ("cl:17,18", "content-length is not one number"),
            ("cl:", "content-length is not one number"),
            ("cl:+17", "content-length is not one number"),
            ("cl:0x11", "content-length is not one number"),
            ("cl:18446744073709551616", "content-length is not one number"),
            ("te:chunked", "chunked"),
            ("te:gzip,Chunked", "chunked"),
            ("te:gzip te:chunked", "chunked"),
            ("te:chunked cl:17", "chunked"),
            ("cl:17 cl:18 te:chunked", "chunked"),
            ("te:gzip", "chunked is not the last transfer coding of the request"),
            ("te:chunked,gzip", "chunked is not the last transfer coding of the request"),
            ("te:,", "0"),
        ] {
            assert_eq!(name(&framing(fields).of_request(Version::Http11)), expected, "{fields}");
        }
    }

    #[test]
    fn response_framing_follows_status_method_and_fields() {
        for (status, method, fields, expected) in [
            (200, Method::Other, "", "until end"),
            (200, Method::Other, "cl:17", "17"),
            (200, Method::Other, "te:chunked", "chunked"),
            (200, Method::Other, "te:gzip cl:17", "until end"),
            (200, Method::Other, "cl:a", "content-length is not one number"),
            (200, Method::Head, "cl:17", "0"),
            (200, Method::Head, "te:chunked", "0"),
            (204, Method::Other, "te:chunked", "0"),
            (304, Method::Other, "cl:17", "0"),
            (403, Method::Connect, "cl:17", "17"),
        ] {
            assert_eq!(name(&framing(fields).of_response(Version::Http11, status, method)), expected, "{status} {fields}");
        }
    }

    #[test]
    fn http_1_0_ignores_transfer_encoding() {
        let framing = framing("te:chunked cl:17");
        assert_eq!(name(&framing.of_request(Version::Http10)), "17");
        assert_eq!(name(&framing.of_response(Version::Http10, 200, Method::Other)), "17");
    }

    fn framing(fields: &str) -> Framing {
        let mut framing = Framing::default();
        for field in fields.split_whitespace() {
            match field.split_at(3) {
                ("cl:", value) => framing.note_content_length(value.as_bytes()),
                (_, value) => framing.note_transfer_encoding(value.as_bytes()),
            }
        }
        framing
    }

    fn name(body: &Result<Body, &'static str>) -> String {
        match body {
            Ok(Body::Length(length)) => length.to_string(),
            Ok(Body::Chunked(_)) => "chunked".to_owned(),
            Ok(Body::UntilEnd) => "until end".to_owned(),
            Err(what) => (*what).to_owned(),
        }
    }
}
