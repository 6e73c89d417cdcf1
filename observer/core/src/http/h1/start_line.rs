//! Request lines and status lines (RFC 9112 §3 and §4).

use crate::http::{Target, method};

/// The first line of a message.
pub(super) trait StartLine: Sized {
    /// Whether empty lines may come before it (RFC 9112 §2.2).
    const MAY_FOLLOW_EMPTY_LINES: bool;

    /// Reads the line; the error describes an invalid one.
    fn parse(line: &[u8]) -> Result<Self, &'static str>;
}

/// The minor version, as far as it changes how a message is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, or a later 1.x.
    Http11,
}

/// `method SP request-target SP HTTP-version`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestLine {
    /// The method; `OTHER` if HTTP defines no such method.
    pub(super) method: &'static str,
    /// Path and allow-listed query.
    pub(super) target: Target,
    /// The minor version of HTTP/1.
    pub(super) version: Version,
}

/// `HTTP-version SP status-code [SP reason-phrase]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StatusLine {
    /// The status code, 100 to 999.
    pub(super) status: u16,
    /// The minor version of HTTP/1.
    pub(super) version: Version,
}

impl StartLine for RequestLine {
    const MAY_FOLLOW_EMPTY_LINES: bool = true;

    fn parse(line: &[u8]) -> Result<Self, &'static str> {
        let (word, rest) = split_at_space(line).ok_or("request line without a target")?;
        let (target, version) = split_at_space(rest).ok_or("request line without a version")?;
        if !is_token(word) {
            return Err("method is not a token");
        }
        // Go's net/url refuses control characters too; in a target they could also control a terminal.
        if target.is_empty() || target.iter().any(u8::is_ascii_control) {
            return Err("request target is empty or has control characters");
        }
        let version = Version::parse(version).ok_or("request line without a known version")?;
        Ok(Self { method: method::known(word), target: Target::parse(target), version })
    }
}

impl StartLine for StatusLine {
    const MAY_FOLLOW_EMPTY_LINES: bool = false;

    fn parse(line: &[u8]) -> Result<Self, &'static str> {
        let (version, rest) = split_at_space(line).ok_or("status line without a status")?;
        let version = Version::parse(version).ok_or("status line without a known version")?;
        let status = match rest {
            [hundreds @ b'1'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9']
            | [hundreds @ b'1'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9', b' ', ..] => {
                [hundreds, tens, ones].iter().fold(0, |status, digit| status * 10 + u16::from(**digit - b'0'))
            }
            _ => return Err("status is not three digits"),
        };
        Ok(Self { status, version })
    }
}

impl Version {
    fn parse(text: &[u8]) -> Option<Self> {
        match text.strip_prefix(b"HTTP/1.")? {
            b"0" => Some(Self::Http10),
            [b'1'..=b'9'] => Some(Self::Http11),
            _ => None,
        }
    }
}

/// Whether `bytes` is a token (RFC 9110 §5.6.2): the form of methods and field names.
pub(super) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

fn split_at_space(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (before, [_, after @ ..]) = line.split_at_checked(memchr::memchr(b' ', line)?)? else { return None };
    Some((before, after))
}

#[cfg(test)]
mod tests {
    use super::{RequestLine, StartLine, StatusLine, Version};

    #[test]
    fn request_lines_are_parsed() {
        for (line, expected) in [
            ("GET /api/v1/pods?limit=500 HTTP/1.1", Some(("GET", "/api/v1/pods", Version::Http11))),
            ("GET / HTTP/1.0", Some(("GET", "/", Version::Http10))),
            ("OPTIONS * HTTP/1.1", Some(("OPTIONS", "*", Version::Http11))),
            ("CONNECT api.example:443 HTTP/1.1", Some(("CONNECT", "api.example:443", Version::Http11))),
            ("GET https://api.example/version HTTP/1.1", Some(("GET", "/version", Version::Http11))),
            ("M-SEARCH / HTTP/1.9", Some(("OTHER", "/", Version::Http11))),
            ("GET /", None),
            ("GET / HTTP/2.0", None),
            ("GET / HTTP/1.11", None),
            ("GET /a b HTTP/1.1", None),
            ("GET  HTTP/1.1", None),
            ("GET /\u{1b}[2J HTTP/1.1", None),
            ("G(T / HTTP/1.1", None),
            (" / HTTP/1.1", None),
            ("", None),
        ] {
            let parsed = RequestLine::parse(line.as_bytes()).ok();
            let parsed = parsed.as_ref().map(|line| (line.method, line.target.path.as_str(), line.version));
            assert_eq!(parsed, expected, "{line}");
        }
    }

    #[test]
    fn unknown_method_is_replaced_by_other() {
        for method in ["get", "GETS", "MKCOL", "hunter2", &"M".repeat(40)] {
            let line = RequestLine::parse(format!("{method} / HTTP/1.1").as_bytes()).unwrap();
            assert_eq!(line.method, "OTHER", "{method}");
        }
    }

    #[test]
    fn status_lines_are_parsed() {
        for (line, expected) in [
            ("HTTP/1.1 200 OK", Some((200, Version::Http11))),
            ("HTTP/1.1 410", Some((410, Version::Http11))),
            ("HTTP/1.0 429 ", Some((429, Version::Http10))),
            ("HTTP/1.1 504 Gateway Timeout", Some((504, Version::Http11))),
            ("HTTP/1.1 2000 OK", None),
            ("HTTP/1.1 099 Odd", None),
            ("HTTP/1.1 20x OK", None),
            ("HTTP/1.1", None),
            ("HTTP/2.0 200 OK", None),
            ("ICY 200 OK", None),
        ] {
            let parsed = StatusLine::parse(line.as_bytes()).ok().map(|line| (line.status, line.version));
            assert_eq!(parsed, expected, "{line}");
        }
    }
}
