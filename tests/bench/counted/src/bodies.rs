//! The list bodies that the region `decode` reads.

use std::io::Write;

use anyhow::{Context, Result};
use observer_counted::json_list;

/// Size of each list in bytes.
const SIZE: usize = 1_000_000;
/// The prefix of every object in protobuf (kubernetes/apimachinery pkg/runtime/serializer/protobuf/protobuf.go).
const PROTOBUF_PREFIX: &[u8] = b"k8s\0";
/// Field numbers of `Unknown` (`typeMeta`, `raw`) and of lists (`metadata`, `items`), as tags of length-delimited fields.
const FIRST: u8 = 0x0a;
const SECOND: u8 = 0x12;

/// One body and its headers.
pub(crate) struct Body {
    pub(crate) content_type: &'static str,
    pub(crate) content_encoding: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Lists of many small values and of few long strings, with members in both orders, in each encoding that the core reads often.
pub(crate) fn all() -> Result<Vec<Body>> {
    Ok(vec![
        json(pods()?),
        json(json_list(
            include_str!("../../bodies/custom-resource.json"),
            r#"{"apiVersion":"routing.example/v1","items":["#,
            "],\"kind\":\"RouteList\",\"metadata\":{\"continue\":\"\",\"resourceVersion\":\"98765432\"}}\n",
            SIZE,
        )?),
        json(json_list(
            include_str!("../../bodies/secret.json"),
            r#"{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"98765432"},"items":["#,
            "]}\n",
            SIZE,
        )?),
        in_gzip(&pods()?.0)?,
        protobuf("PodList", include_bytes!("../../bodies/pod.pb"))?,
        protobuf("SecretList", include_bytes!("../../bodies/secret.pb"))?,
    ])
}

/// A JSON list of pods.
pub(crate) fn pods() -> Result<(String, usize)> {
    let head = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"98765432"},"items":["#;
    json_list(include_str!("../../bodies/pod.json"), head, "]}\n", SIZE)
}

fn json((text, _): (String, usize)) -> Body {
    Body { content_type: "application/json", content_encoding: "", bytes: text.into_bytes() }
}

fn in_gzip(text: &str) -> Result<Body> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes())?;
    Ok(Body { content_type: "application/json", content_encoding: "gzip", bytes: encoder.finish()? })
}

/// A list of one object, repeated: as kube-apiserver writes it, except that all names are equal.
fn protobuf(kind: &str, object: &[u8]) -> Result<Body> {
    let envelope = object.strip_prefix(PROTOBUF_PREFIX).context("no protobuf of Kubernetes")?;
    let (_type_meta, rest) = field(envelope, FIRST)?;
    let (raw, _) = field(rest, SECOND)?;
    let resource_version = delimited(SECOND, b"98765432")?;
    let mut list = delimited(FIRST, &resource_version)?;
    let item = delimited(SECOND, raw)?;
    (0..SIZE / item.len()).for_each(|_| list.extend_from_slice(&item));
    let type_meta = [delimited(FIRST, b"v1")?, delimited(SECOND, kind.as_bytes())?].concat();
    let bytes = [PROTOBUF_PREFIX, &delimited(FIRST, &type_meta)?, &delimited(SECOND, &list)?].concat();
    Ok(Body { content_type: "application/vnd.kubernetes.protobuf", content_encoding: "", bytes })
}

/// The content of the length-delimited field at the beginning of `message`, and the rest.
fn field(message: &[u8], tag: u8) -> Result<(&[u8], &[u8])> {
    let mut rest = message.strip_prefix(&[tag]).context("another field than expected")?;
    let (mut length, mut shift) = (0, 0);
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    rest.split_at_checked(length).context("a field is cut")
}

fn delimited(tag: u8, content: &[u8]) -> Result<Vec<u8>> {
    let mut field = vec![tag];
    let mut length = content.len();
    while length > 0x7f {
        field.push(u8::try_from(length & 0x7f)? | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length)?);
    field.extend_from_slice(content);
    Ok(field)
}
