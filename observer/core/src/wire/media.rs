//! The media type and content coding of a body.

/// A media type that is supported for bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `application/json`.
    Json,
    /// `application/vnd.kubernetes.protobuf`.
    Protobuf,
    /// `application/cbor`, or `application/cbor-seq` for watches.
    Cbor,
}

impl MediaType {
    /// The media type of a `Content-Type` value (RFC 9110 §8.3.1). Parameters, such as `stream=watch` and `as=Table`, do not change
    /// how a body is read.
    pub fn of(content_type: &str) -> Option<Self> {
        let essence = content_type.split(';').next()?.trim().to_ascii_lowercase();
        match essence.as_str() {
            "application/json" => Some(Self::Json),
            "application/vnd.kubernetes.protobuf" => Some(Self::Protobuf),
            "application/cbor" | "application/cbor-seq" => Some(Self::Cbor),
            _ => None,
        }
    }

    /// The media type of watch events that begin with this byte, if no header states it: a WebSocket's handshake has no
    /// `Content-Type`. A JSON object begins with a brace, a protobuf event with its first field, a CBOR event with a tag or a map.
    pub const fn of_event(first: u8) -> Option<Self> {
        match first {
            b'{' => Some(Self::Json),
            0x0a => Some(Self::Protobuf),
            0xd9 | 0xa0..=0xbf => Some(Self::Cbor),
            _ => None,
        }
    }

    /// The media type of a watch whose next bytes certainly begin an event. The event's type is the first field of a JSON object,
    /// or of a `metav1.WatchEvent` after its length (apimachinery `pkg/runtime/serializer/streaming`, v0.34).
    pub fn of_watch(bytes: &[u8]) -> Option<Self> {
        const TYPES: [&[u8]; 5] = [b"ADDED", b"MODIFIED", b"DELETED", b"BOOKMARK", b"ERROR"];
        let of_json =
            |rest: &[u8]| TYPES.iter().any(|word| rest.strip_prefix(*word).is_some_and(|rest| rest.starts_with(b"\",\"object\":")));
        if bytes.strip_prefix(b"{\"type\":\"").is_some_and(of_json) {
            return Some(Self::Json);
        }
        let (_length, message) = bytes.split_first_chunk::<4>()?;
        let (length, rest) = message.strip_prefix(b"\x0a")?.split_first()?;
        let word = rest.get(..usize::from(*length))?;
        TYPES.contains(&word).then_some(Self::Protobuf)
    }

    /// The `Content-Type` value without parameters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            Self::Cbor => "application/cbor",
        }
    }
}

/// The coding of a `Content-Encoding` value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentCoding {
    /// No coding: the value is empty or `identity`.
    Identity,
    /// gzip, one or several members.
    Gzip,
}

impl ContentCoding {
    /// The coding of a `Content-Encoding` value (RFC 9110 §8.4.1); several codings in one value are not supported.
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
    /// The media type is not supported.
    MediaType,
    /// The content coding is not supported.
    ContentCoding,
}

#[cfg(test)]
mod tests {
    use super::{ContentCoding, MediaType};

    #[test]
    fn media_types_are_known_with_any_parameters() {
        for (value, media_type) in [
            ("application/json", MediaType::Json),
            ("application/json;charset=utf-8", MediaType::Json),
            ("Application/JSON ; stream=watch", MediaType::Json),
            ("application/json;as=Table;v=v1;g=meta.k8s.io", MediaType::Json),
            ("application/vnd.kubernetes.protobuf", MediaType::Protobuf),
            ("application/vnd.kubernetes.protobuf;stream=watch", MediaType::Protobuf),
            ("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", MediaType::Protobuf),
            ("application/cbor", MediaType::Cbor),
            ("application/cbor-seq", MediaType::Cbor),
        ] {
            assert_eq!(MediaType::of(value), Some(media_type), "{value}");
        }
    }

    #[test]
    fn other_media_types_are_not_understood() {
        for value in ["", "application/protobuf", "application/yaml", "text/plain", "application/jsonp", "application/cborx"] {
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

    #[test]
    fn watch_is_recognized_by_the_type_of_its_event_alone() {
        let protobuf = |word: &str| {
            let length = u8::try_from(word.len()).unwrap();
            [&[0, 0, 0, 0x20, 0x0a, length], word.as_bytes(), &[0x12, 0x10]].concat()
        };
        for (bytes, expected) in [
            (br#"{"type":"ADDED","object":{"kind":"Pod""#.to_vec(), Some(MediaType::Json)),
            (br#"{"type":"BOOKMARK","object":{"#.to_vec(), Some(MediaType::Json)),
            (protobuf("DELETED"), Some(MediaType::Protobuf)),
            (br#"{"type":"ADDED""#.to_vec(), None),
            (br#"{"type":"Opaque","object":{"#.to_vec(), None),
            (br#"{"kind":"PodList","apiVersion":"v1""#.to_vec(), None),
            (protobuf("Secret"), None),
            (protobuf("ADDED")[..9].to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(MediaType::of_watch(&bytes), expected, "{:?}", String::from_utf8_lossy(&bytes));
        }
    }
}
