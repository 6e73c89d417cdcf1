//! Reads one body: chooses the syntax by the media type, and inflates the body if it is compressed.

use super::cbor::Cbor;
use super::gzip::{Inflater, Wanted};
use super::json::Json;
use super::meaning::{DocumentReader, Reader, WatchReader};
use super::protobuf::Protobuf;
use super::syntax::{Root, Syntax};
use super::{ContentCoding, Fact, MediaType, Unsupported};

/// The form of a body, as its request implies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// One document: a list, a single object or a `Status`. Its members decide which.
    Document,
    /// A stream of watch events.
    Watch,
    /// A stream of watch events in messages, as a WebSocket carries them. In protobuf, each message is one event, without the
    /// length prefix of a stream. In JSON and CBOR, the joined bytes of all messages are a [`Self::Watch`] body
    /// (kubernetes/apiserver `pkg/endpoints/handlers/watch.go` `HandleWS`, v0.29 to v0.36: a message is one write of an encoder).
    Messages,
}

/// Reads one body, in any chunking.
#[derive(Debug)]
pub struct BodyReader {
    reader: Box<dyn Reader>,
    inflater: Option<Inflater>,
}

impl BodyReader {
    /// A reader for a body with these `Content-Type` and `Content-Encoding` values (empty: identity).
    pub fn new(kind: BodyKind, content_type: &str, content_encoding: &str) -> Result<Self, Unsupported> {
        let media_type = MediaType::of(content_type).ok_or(Unsupported::MediaType)?;
        let coding = ContentCoding::of(content_encoding).ok_or(Unsupported::ContentCoding)?;
        let reader = match media_type {
            MediaType::Json => reader::<Json>(kind),
            MediaType::Protobuf => reader::<Protobuf>(kind),
            MediaType::Cbor => reader::<Cbor>(kind),
        };
        let inflater = match coding {
            ContentCoding::Identity => None,
            ContentCoding::Gzip => Some(Inflater::new(Inflater::DEFAULT_CAP)),
        };
        Ok(Self { reader, inflater })
    }

    /// The same reader, but a compressed body may inflate to `cap` bytes instead of 4 GiB.
    #[must_use]
    pub fn with_inflate_cap(self, cap: u64) -> Self {
        Self { inflater: self.inflater.map(|_| Inflater::new(cap)), ..self }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) {
        let Self { reader, inflater: Some(inflater) } = self else {
            return self.reader.push(bytes, sink);
        };
        if reader.is_silent() {
            return;
        }
        let outcome = inflater.push(bytes, &mut |inflated| {
            let mut facts = 0;
            reader.push(inflated, &mut |fact| {
                facts += 1;
                sink(fact);
            });
            if reader.is_silent() { Wanted::Nothing } else { Wanted::More { facts } }
        });
        if let Err(what) = outcome {
            reader.malformed(what, sink);
        }
    }

    /// Notes `length` missing bytes. The facts after them are lost, except those after a value that certainly contains the gap.
    /// Without content coding, such a value is a watch event in JSON or protobuf, or an item or the metadata of a list in protobuf.
    /// The gap itself gives no fact, because the caller knows about it.
    pub fn gap(&mut self, length: u64) {
        if length == 0 {
            return;
        }
        match self.inflater {
            None => self.reader.gap(length),
            Some(_) => self.reader.silence(),
        }
    }

    /// Notes the end of a message of [`BodyKind::Messages`].
    pub fn end_message(&mut self, sink: &mut dyn FnMut(Fact)) {
        self.reader.end_message(sink);
    }

    /// Notes the end of the body.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Fact)) {
        let cut = self.inflater.as_mut().and_then(|inflater| inflater.finish().err());
        match cut {
            Some(what) if !self.reader.is_silent() => self.reader.malformed(what, sink),
            Some(_) | None => self.reader.finish(sink),
        }
    }
}

fn reader<S: Syntax + 'static>(kind: BodyKind) -> Box<dyn Reader> {
    match kind {
        BodyKind::Document => Box::new(DocumentReader::<S>::new()),
        BodyKind::Watch => Box::new(WatchReader::<S>::new(Root::Events)),
        BodyKind::Messages => Box::new(WatchReader::<S>::new(Root::Messages)),
    }
}
