//! Header fields for a collector, which usually hold a token. Nothing here shows their values.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::key_value_list;

/// The text in place of a value.
const REDACTED: &str = "REDACTED";

/// Shorter values are too common to be sought in a text.
const SHORTEST_SECRET: usize = 4;

/// The fields of `OTEL_EXPORTER_OTLP_HEADERS`.
#[derive(Clone, Default)]
pub(super) struct Headers {
    fields: HeaderMap,
}

/// The variable holds something else. It is never quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotHeaders;

impl Headers {
    /// Parses `name=value,other=value`.
    pub(super) fn parse(list: &str) -> Result<Self, NotHeaders> {
        let mut fields = HeaderMap::new();
        for (name, value) in key_value_list::parse(list).or(Err(NotHeaders))? {
            let name = HeaderName::try_from(name).or(Err(NotHeaders))?;
            let mut value = HeaderValue::try_from(value).or(Err(NotHeaders))?;
            value.set_sensitive(true);
            fields.append(name, value);
        }
        Ok(Self { fields })
    }

    /// The fields, for a request.
    pub(super) fn fields(&self) -> HeaderMap {
        self.fields.clone()
    }

    /// A text of the collector, without the values that it may quote.
    pub(super) fn redact(&self, text: &str) -> String {
        let values = self.fields.values().filter_map(|value| value.to_str().ok());
        let secrets = values.flat_map(|value| [value, value.rsplit(' ').next().unwrap_or_default()]);
        secrets
            .filter(|secret| secret.len() >= SHORTEST_SECRET)
            .fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }
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
    fn what_cannot_be_a_field_is_refused() {
        for list in ["Bearer t0k3n", "a b=c", "a=%0d%0ab", "a"] {
            assert!(Headers::parse(list).is_err(), "{list}");
        }
    }
}
