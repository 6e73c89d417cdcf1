//! What `Content-Type` and `Content-Encoding` say of a body.

/// The media type of a `Content-Type` value, as far as bodies are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`, with or without parameters.
    Json,
}

impl MediaType {
    /// The media type of a `Content-Type` value (RFC 9110 §8.3.1). Parameters change nothing about how JSON is read: neither
    /// `stream=watch` nor `as=Table`.
    pub fn of(content_type: &str) -> Option<Self> {
        let essence = content_type.split(';').next()?.trim();
        essence.eq_ignore_ascii_case("application/json").then_some(Self::Json)
    }
}

/// The coding of a `Content-Encoding` value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentCoding {
    /// None.
    Identity,
    /// gzip, one or several members.
    Gzip,
}

impl ContentCoding {
    /// The coding of a `Content-Encoding` value (RFC 9110 §8.4.1); several in one value are not understood.
    pub fn of(content_encoding: &str) -> Option<Self> {
        let coding = content_encoding.trim();
        if coding.is_empty() || coding.eq_ignore_ascii_case("identity") {
            Some(Self::Identity)
        } else if coding.eq_ignore_ascii_case("gzip") || coding.eq_ignore_ascii_case("x-gzip") {
            Some(Self::Gzip)
        } else {
            None
        }
    }
}

/// Why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// The media type is not understood (yet).
    MediaType,
    /// The content coding is not understood.
    ContentCoding,
}

#[cfg(test)]
mod tests {
    use super::{ContentCoding, MediaType};

    #[test]
    fn json_is_known_with_any_parameters() {
        for value in [
            "application/json",
            "application/json;charset=utf-8",
            "Application/JSON ; stream=watch",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        ] {
            assert_eq!(MediaType::of(value), Some(MediaType::Json), "{value}");
        }
    }

    #[test]
    fn other_media_types_are_not_json() {
        for value in [
            "",
            "application/vnd.kubernetes.protobuf;stream=watch",
            "application/cbor-seq",
            "application/yaml",
            "text/plain",
            "application/jsonp",
        ] {
            assert_eq!(MediaType::of(value), None, "{value}");
        }
    }

    #[test]
    fn codings_are_known_in_any_case() {
        assert_eq!(
            ["", "identity", "GZIP", "x-gzip", "br", "gzip, gzip"].map(ContentCoding::of),
            [
                Some(ContentCoding::Identity),
                Some(ContentCoding::Identity),
                Some(ContentCoding::Gzip),
                Some(ContentCoding::Gzip),
                None,
                None,
            ]
        );
    }
}
