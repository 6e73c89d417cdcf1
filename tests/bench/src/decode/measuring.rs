//! Reading one body with both decoders, in turns.
//!
//! Other encodings take their place as further bodies (`ListBody` says its content type and coding) and further variants of [`Reference`].

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use observer_core::wire::{BodyKind, BodyReader, Fact};

use super::body::ListBody;
use crate::allocation;

/// How much of a body the decoder is shown at a time: as much as a tap reads.
const CHUNK: usize = 64 * 1024;

/// A sample reads so much, if the body is smaller: or the clock and the first touch of memory would be measured.
const LEAST_SAMPLE: usize = 10_000_000;

/// What a body is compared with: a library that reads all of it into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// `serde_json::from_slice::<Value>`.
    SerdeJsonValue,
}

/// What came of one body.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) body: ListBody,
    pub(super) reference: Reference,
    /// Seconds for one pass of ours, a number each round.
    pub(super) ours: Vec<f64>,
    /// The same of the reference, in the same rounds.
    pub(super) theirs: Vec<f64>,
    /// Memory beside the body, in bytes.
    pub(super) our_peak: u64,
    pub(super) their_peak: u64,
}

impl Reference {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SerdeJsonValue => "serde_json::Value",
        }
    }

    /// The time of one full parse; freeing what it made does not count.
    fn parse(self, body: &ListBody) -> Result<Duration> {
        match self {
            Self::SerdeJsonValue => {
                let begun = Instant::now();
                let value: serde_json::Value = serde_json::from_slice(black_box(&body.bytes))?;
                let took = begun.elapsed();
                black_box(&value);
                Ok(took)
            }
        }
    }
}

impl Measured {
    /// Looks at memory, and whether the decoder finds what is there.
    pub(super) fn new(body: ListBody, reference: Reference) -> Result<Self> {
        let mut outcome = Ok(Duration::ZERO);
        let our_peak = allocation::peak_during(|| outcome = read(&body));
        outcome?;
        let mut outcome = Ok(Duration::ZERO);
        let their_peak = allocation::peak_during(|| outcome = reference.parse(&body));
        outcome?;
        Ok(Self { body, reference, ours: Vec::new(), theirs: Vec::new(), our_peak, their_peak })
    }

    /// One more sample of both, in an order that alternates from round to round.
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
        // A small body in a test is not read a thousand times.
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
