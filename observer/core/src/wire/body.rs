//! The reader of one body.

use super::gzip::{Inflater, Wanted};
use super::json::{DocumentReader, WatchReader};
use super::{ContentCoding, Fact, MediaType, Unsupported};

/// What the request makes us expect of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// One document: a list, a single object or a `Status`; which of them, its members tell.
    Document,
    /// A stream of watch events.
    Watch,
}

/// Reads one body, in any chunking.
#[derive(Debug)]
pub struct BodyReader {
    decoder: Decoder,
    inflater: Option<Inflater>,
}

/// Protobuf and CBOR get variants of their own here.
#[derive(Debug)]
enum Decoder {
    JsonDocument(Box<DocumentReader>),
    JsonWatch(Box<WatchReader>),
}

impl BodyReader {
    /// A reader for a body with these `Content-Type` and `Content-Encoding` values (empty: identity).
    pub fn new(kind: BodyKind, content_type: &str, content_encoding: &str) -> Result<Self, Unsupported> {
        let media_type = MediaType::of(content_type).ok_or(Unsupported::MediaType)?;
        let coding = ContentCoding::of(content_encoding).ok_or(Unsupported::ContentCoding)?;
        let decoder = match (media_type, kind) {
            (MediaType::Json, BodyKind::Document) => Decoder::JsonDocument(Box::new(DocumentReader::new())),
            (MediaType::Json, BodyKind::Watch) => Decoder::JsonWatch(Box::new(WatchReader::new())),
        };
        let inflater = match coding {
            ContentCoding::Identity => None,
            ContentCoding::Gzip => Some(Inflater::new(Inflater::DEFAULT_CAP)),
        };
        Ok(Self { decoder, inflater })
    }

    /// The same, but a compressed body may inflate to `cap` bytes instead of 4 GiB.
    #[must_use]
    pub fn with_inflate_cap(self, cap: u64) -> Self {
        Self { inflater: self.inflater.map(|_| Inflater::new(cap)), ..self }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) {
        let Self { decoder, inflater: Some(inflater) } = self else {
            return self.decoder.push(bytes, sink);
        };
        if decoder.is_silent() {
            return;
        }
        let outcome = inflater.push(bytes, &mut |inflated| {
            decoder.push(inflated, sink);
            if decoder.is_silent() { Wanted::Nothing } else { Wanted::More }
        });
        if let Err(what) = outcome {
            decoder.malformed(what, sink);
        }
    }

    /// Notes `length` missing bytes: the facts after them are lost, for a watch in plain JSON until the beginning of an event can be
    /// proved, else to the end. It tells nothing itself, as the caller knows of the gap.
    pub fn gap(&mut self, length: u64) {
        match &mut self.decoder {
            _ if length == 0 => {}
            Decoder::JsonWatch(watch) if self.inflater.is_none() => watch.gap(length),
            Decoder::JsonWatch(watch) => watch.silence(),
            Decoder::JsonDocument(document) => document.silence(),
        }
    }

    /// Notes the end of the body.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Fact)) {
        let cut = self.inflater.as_mut().and_then(|inflater| inflater.finish().err());
        match cut {
            Some(what) if !self.decoder.is_silent() => self.decoder.malformed(what, sink),
            Some(_) | None => self.decoder.finish(sink),
        }
    }
}

impl Decoder {
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) {
        match self {
            Self::JsonDocument(document) => document.push(bytes, sink),
            Self::JsonWatch(watch) => watch.push(bytes, sink),
        }
    }

    fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Fact)) {
        match self {
            Self::JsonDocument(document) => document.malformed(what, sink),
            Self::JsonWatch(watch) => watch.malformed(what, sink),
        }
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Fact)) {
        match self {
            Self::JsonDocument(document) => document.finish(sink),
            Self::JsonWatch(watch) => watch.finish(sink),
        }
    }

    fn is_silent(&self) -> bool {
        match self {
            Self::JsonDocument(document) => document.is_silent(),
            Self::JsonWatch(watch) => watch.is_silent(),
        }
    }
}
