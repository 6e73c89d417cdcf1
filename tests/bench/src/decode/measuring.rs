//! Measures how long watchtap's decoder and a reference take for one body, in turn.

use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use flate2::Crc;
use flate2::read::GzDecoder;
use k8s_pb::api::core::v1::{PodList, SecretList};
use k8s_pb::apimachinery::pkg::runtime::Unknown;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use observer_core::wire::{BodyKind, BodyReader, Fact};
use prost::Message;

use super::body::{ListBody, ListKind, PROTOBUF_PREFIX};
use crate::allocation;

/// Bytes passed to the decoder at a time, as much as a tap reads.
const CHUNK: usize = 64 * 1024;

/// Output size of an inflater, as in the core.
const INFLATED_AT_ONCE: usize = 64 * 1024;

/// Minimum number of bytes per sample: small bodies are read repeatedly, so that clock and page faults do not dominate.
const LEAST_SAMPLE: usize = 10_000_000;

/// The comparison for a body: a library that parses all of it into memory; for gzip, one that only inflates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// `serde_json::from_slice::<Value>`.
    SerdeJsonValue,
    /// `prost`, with the generated types of `k8s-pb`.
    Prost,
    /// `ciborium::from_reader::<Value>`.
    CiboriumValue,
    /// `flate2` on `zlib-rs`, as a stream whose output is discarded. The core uses the same inflater.
    InflateZlibRs,
    /// `miniz_oxide` as a stream whose output is discarded, with the checksum of `flate2`.
    InflateMinizOxide,
    /// `libdeflate` (C), which inflates the complete body into memory at once.
    InflateLibdeflate,
}

/// The measurements of one body.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) body: ListBody,
    pub(super) reference: Reference,
    /// Seconds for one pass of watchtap's reader, one value per round.
    pub(super) ours: Vec<f64>,
    /// Seconds for one pass of the reference, in the same rounds.
    pub(super) theirs: Vec<f64>,
    /// Peak memory without the body, in bytes.
    pub(super) our_peak: u64,
    pub(super) their_peak: u64,
}

impl Reference {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SerdeJsonValue => "serde_json::Value",
            Self::Prost => "prost, k8s-pb",
            Self::CiboriumValue => "ciborium::Value",
            Self::InflateZlibRs => "inflating alone, zlib-rs",
            Self::InflateMinizOxide => "inflating alone, miniz_oxide",
            Self::InflateLibdeflate => "inflating alone, libdeflate",
        }
    }

    /// The time of one full parse, without freeing the result.
    fn parse(self, body: &ListBody) -> Result<Duration> {
        let bytes: &[u8] = black_box(&body.bytes);
        match self {
            Self::SerdeJsonValue => timed(|| Ok(serde_json::from_slice::<serde_json::Value>(bytes)?)),
            Self::Prost => timed(|| {
                let envelope = bytes.strip_prefix(PROTOBUF_PREFIX).context("no protobuf of Kubernetes")?;
                // Borrowed bytes would be faster to decode, but prost's generated types own their bytes.
                let raw = Unknown::decode(envelope)?.raw.unwrap_or_default();
                Ok(match body.kind {
                    ListKind::Pods => (Some(PodList::decode(raw.as_slice())?), None),
                    ListKind::Secrets | ListKind::CustomResources => (None, Some(SecretList::decode(raw.as_slice())?)),
                })
            }),
            Self::CiboriumValue => timed(|| Ok(ciborium::from_reader::<ciborium::Value, _>(bytes)?)),
            Self::InflateZlibRs => timed(|| zlib_rs(bytes, body)),
            Self::InflateMinizOxide => timed(|| miniz_oxide(bytes, body)),
            Self::InflateLibdeflate => timed(|| {
                let mut plain = vec![0; body.plain_size];
                libdeflater::Decompressor::new().gzip_decompress(bytes, &mut plain)?;
                Ok(plain)
            }),
        }
    }
}

fn timed<T>(parse: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let begun = Instant::now();
    let value = parse()?;
    let took = begun.elapsed();
    black_box(&value);
    Ok(took)
}

#[expect(clippy::disallowed_methods, reason = "the body is our own, and it is the library alone that is measured")]
fn zlib_rs(bytes: &[u8], body: &ListBody) -> Result<()> {
    let mut decoder = GzDecoder::new(bytes);
    let mut buffer = vec![0; INFLATED_AT_ONCE];
    let mut total = 0;
    loop {
        match decoder.read(&mut buffer)? {
            0 => break,
            read => total += read,
        }
        black_box(&buffer);
    }
    ensure!(total == body.plain_size, "{total} bytes came out, not {}", body.plain_size);
    Ok(())
}

/// Inflates the DEFLATE stream between a header of ten bytes and a trailer of eight, as this bench's encoder writes them.
fn miniz_oxide(bytes: &[u8], body: &ListBody) -> Result<()> {
    const HEADER: usize = 10;
    let mut rest = bytes.get(HEADER..).context("no gzip")?;
    let mut state = InflateState::new_boxed(DataFormat::Raw);
    let mut checksum = Crc::new();
    let mut buffer = vec![0; INFLATED_AT_ONCE];
    let mut total = 0;
    loop {
        let step = inflate(&mut state, rest, &mut buffer, MZFlush::None);
        rest = rest.get(step.bytes_consumed..).unwrap_or_default();
        total += step.bytes_written;
        checksum.update(buffer.get(..step.bytes_written).unwrap_or_default());
        match step.status {
            Ok(MZStatus::StreamEnd) => break,
            Ok(_) => {}
            Err(error) => anyhow::bail!("miniz_oxide: {error:?}"),
        }
    }
    let expected = rest.first_chunk().map(|trailer| u32::from_le_bytes(*trailer));
    ensure!(expected == Some(checksum.sum()), "another checksum than the trailer's");
    ensure!(total == body.plain_size, "{total} bytes came out, not {}", body.plain_size);
    Ok(())
}

impl Measured {
    /// Measures the peak memory, and checks that the decoder finds all items.
    pub(super) fn new(body: ListBody, reference: Reference) -> Result<Self> {
        let mut outcome = Ok(Duration::ZERO);
        let our_peak = allocation::peak_during(|| outcome = read(&body));
        outcome?;
        let mut outcome = Ok(Duration::ZERO);
        let their_peak = allocation::peak_during(|| outcome = reference.parse(&body));
        outcome?;
        Ok(Self { body, reference, ours: Vec::new(), theirs: Vec::new(), our_peak, their_peak })
    }

    /// Adds one sample of each; the order alternates from round to round.
    pub(super) fn round(&mut self, number: usize) -> Result<()> {
        if number.is_multiple_of(2) {
            self.ours.push(self.sample(read)?);
            self.theirs.push(self.sample(|body| self.reference.parse(body))?);
        } else {
            self.theirs.push(self.sample(|body| self.reference.parse(body))?);
            self.ours.push(self.sample(read)?);
        }
        Ok(())
    }

    /// Seconds for one pass.
    fn sample(&self, pass: impl Fn(&ListBody) -> Result<Duration>) -> Result<f64> {
        let passes = u32::try_from(LEAST_SAMPLE.div_ceil(self.body.bytes.len().max(1)))?;
        // The maximum keeps smoke tests short, whose bodies are small.
        let passes = passes.clamp(1, 16);
        let mut took = Duration::ZERO;
        for _ in 0..passes {
            took += pass(&self.body)?;
        }
        Ok((took / passes).as_secs_f64())
    }
}

/// The time in which the core reads `body`.
fn read(body: &ListBody) -> Result<Duration> {
    let begun = Instant::now();
    let reader = BodyReader::new(BodyKind::Document, body.content_type, body.content_encoding);
    let mut reader = reader.ok().with_context(|| format!("{} are not understood", body.content_type))?;
    let (mut items, mut complete) = (0, false);
    let mut sink = |fact| match fact {
        Fact::Item(item) => {
            black_box(&item);
            items += 1;
        }
        Fact::Complete => complete = true,
        Fact::Kind { .. } | Fact::ListMeta(_) | Fact::Object(_) | Fact::Frame(_) | Fact::Status(_) | Fact::Malformed { .. } => {}
    };
    for chunk in black_box(&body.bytes).chunks(CHUNK) {
        reader.push(chunk, &mut sink);
    }
    reader.finish(&mut sink);
    let took = begun.elapsed();
    ensure!(complete && items == body.items, "{items} items were found, not {}; the list is complete: {complete}", body.items);
    Ok(took)
}
