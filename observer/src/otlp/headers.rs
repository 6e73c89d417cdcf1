//! Header fields for a collector, which usually hold a token. Nothing here shows their values.

use std::fmt;

use http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::key_value_list;

/// The text in place of a value.
const REDACTED: &str = "REDACTED";

/// Shorter values are too common to be sought in a text.
const SHORTEST_SECRET: usize = 4;

/// Words before a token that are no secret.
const SCHEMES: [&str; 2] = ["Basic", "Bearer"];

/// Fields that describe the request itself, so watchtap sets them.
const OWN: [HeaderName; 6] = [CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING];

/// The fields of `OTEL_EXPORTER_OTLP_HEADERS`.
#[derive(Clone, Default)]
pub(super) struct Headers {
    fields: HeaderMap,
    /// The values and their words, also in percent encoding as they were written; the longest first.
    secrets: Vec<String>,
}

/// Why the variable cannot be used. No value is quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeadersError {
    /// It is no list, or holds what cannot be a field.
    #[error("expected key=value pairs, separated by commas, with values in percent encoding (its value is not shown)")]
    NotHeaders,
    /// It sets a field of watchtap's own.
    #[error("watchtap sets the header field {0} itself: remove it")]
    Own(HeaderName),
}

impl Headers {
    /// Parses `name=value,other=value`.
    pub(super) fn parse(list: &str) -> Result<Self, HeadersError> {
        let not_headers = HeadersError::NotHeaders;
        let mut fields = HeaderMap::new();
        let mut values = Vec::new();
        for (name, value) in key_value_list::parse(list).or(Err(not_headers.clone()))? {
            let name = HeaderName::try_from(name).or(Err(not_headers.clone()))?;
            if OWN.contains(&name) {
                return Err(HeadersError::Own(name));
            }
            let mut field = HeaderValue::try_from(&value).or(Err(not_headers.clone()))?;
            field.set_sensitive(true);
            fields.append(name, field);
            values.push(value);
        }
        Ok(Self { fields, secrets: secrets(values, list) })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The fields, for a request.
    pub(super) fn fields(&self) -> HeaderMap {
        self.fields.clone()
    }

    /// A text of the collector, without the values that it may quote.
    pub(super) fn redact(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }
}

/// Everything to redact: the values of `list`, decoded and as written, and their words.
fn secrets(values: Vec<String>, list: &str) -> Vec<String> {
    let written = key_value_list::written_values(list).map(str::to_owned);
    let words = |value: String| -> Vec<String> {
        let words = value.split(' ').flat_map(|word| word.split("%20")).map(str::to_owned);
        words.chain([value.clone()]).collect()
    };
    let is_scheme = |word: &str| SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(word));
    let secrets = values.into_iter().chain(written).flat_map(words);
    let mut secrets: Vec<String> = secrets.filter(|secret| secret.len() >= SHORTEST_SECRET && !is_scheme(secret)).collect();
    // A part of a secret that is replaced first would leave the rest of it.
    secrets.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    secrets.dedup();
    secrets
}

impl fmt::Debug for Headers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Headers").field("number", &self.fields.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sent_and_never_shown() {
        let headers = Headers::parse("authorization=Bearer%20t0k3n, x-tenant=a").unwrap();
        assert_eq!(headers.fields().get("authorization").unwrap(), "Bearer t0k3n");
        assert_eq!(headers.fields().get("x-tenant").unwrap(), "a");
        assert!(!format!("{headers:?} {:?}", headers.fields()).contains("t0k3n"), "{headers:?} {:?}", headers.fields());
        assert_eq!(headers.redact("bad t0k3n, or Bearer t0k3n of a"), "bad REDACTED, or REDACTED of a");
    }

    #[test]
    fn values_of_any_bytes_are_redacted_with_the_longest_first() {
        let headers = Headers::parse("x-a=geheimnis,x-b=geheimnis%C3%BC2,authorization=Basic%20b%2Bc%2Fd%3D%3D%20rest").unwrap();
        for (text, expected) in [
            ("no geheimnisü2 here", "no REDACTED here"),
            ("no geheimnis%C3%BC2 here", "no REDACTED here"),
            ("no geheimnis here", "no REDACTED here"),
            ("Basic b+c/d== rest", "REDACTED"),
            ("Basic%20b%2Bc%2Fd%3D%3D%20rest", "REDACTED"),
            ("b%2Bc%2Fd%3D%3D", "REDACTED"),
            ("the Basic scheme, b+c/d==, the rest", "the Basic scheme, REDACTED, the REDACTED"),
        ] {
            assert_eq!(headers.redact(text), expected);
        }
    }

    #[test]
    fn fields_of_the_request_itself_are_refused_by_name() {
        for name in ["Content-Length", "transfer-encoding", "content-encoding", "Content-Type", "host", "Connection"] {
            let error = Headers::parse(&format!("x=y,{name}=s3cr3t")).unwrap_err().to_string();
            assert_eq!(error, format!("watchtap sets the header field {} itself: remove it", name.to_ascii_lowercase()));
        }
    }

    #[test]
    fn what_cannot_be_a_field_is_refused() {
        for list in ["Bearer t0k3n", "a b=c", "a=%0d%0ab", "a"] {
            assert!(Headers::parse(list).is_err(), "{list}");
        }
    }
}
