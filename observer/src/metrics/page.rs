//! One page of metrics: the numbers of one moment, and their text in each format that was asked for.

use std::io::{self, Write as _};
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use observer_core::series::{Family, FamilyRow, Kind, LABELS, Label, Samples, Unit, Value, Values};

use super::accepted::{Accepted, Coding};
use super::exposition::{Bounds, Exposition, Format, Head, Number};

/// The numbers of one scrape. All readers of a page get the same bytes.
#[derive(Debug)]
pub(super) struct Page {
    samples: Samples,
    most_bytes: usize,
    texts: [OnceLock<Bytes>; 2],
    compressed: [OnceLock<Bytes>; 2],
}

impl Page {
    pub(super) fn new(samples: Samples, most_bytes: usize) -> Self {
        Self { samples, most_bytes, texts: Default::default(), compressed: Default::default() }
    }

    /// The text as it was accepted. The first call for a format writes it.
    pub(super) fn bytes(&self, accepted: Accepted) -> Bytes {
        match accepted.coding {
            Coding::Identity => self.text(accepted.format),
            Coding::Gzip => {
                let compressed = in_format(&self.compressed, accepted.format);
                // Memory does not fail, so the result is complete.
                compressed.get_or_init(|| gzip(&self.text(accepted.format)).unwrap_or_default()).clone()
            }
        }
    }

    fn text(&self, format: Format) -> Bytes {
        let bounds = Bounds { bytes: self.most_bytes, ..Bounds::OF_A_PAGE };
        in_format(&self.texts, format).get_or_init(|| Bytes::from(self.write(format, bounds))).clone()
    }

    fn write(&self, format: Format, bounds: Bounds) -> String {
        let mut out = Exposition::new(format, bounds);
        let mut families: Vec<_> = self.samples.families().collect();
        // Alerts need the small families, so those come first. A large page leaves out the last ones.
        families.sort_by_key(|(row, _)| rank(row));
        for (row, samples) in families {
            let head = Head { name: row.name, kind: row.kind, help: row.help };
            if row.family == Family::FamiliesLeftOut {
                out.families_left_out(head);
                continue;
            }
            out.family(head, |family| {
                for sample in samples {
                    family.sample(&sample.labels, number(row, sample.value));
                }
            });
        }
        out.finish()
    }
}

/// The place of a family on the page, by how large the traffic can make it. The number of families left out comes last.
fn rank(row: &FamilyRow) -> (bool, bool, bool) {
    let is_first_come = |label: &Label| LABELS.get(*label as usize).is_some_and(|row| matches!(row.values, Values::FirstCome));
    let is_large = row.labels.iter().any(is_first_come);
    (row.family == Family::FamiliesLeftOut, matches!(row.kind, Kind::Histogram { .. }), is_large)
}

fn number<'s>(row: &FamilyRow, value: Value<'s>) -> Number<'s> {
    match (value, row.unit()) {
        (Value::Count(count), Unit::Seconds) => Number::Micros(count),
        (Value::Count(count), Unit::One | Unit::Bytes) => Number::Integer(count),
        (Value::Histogram(histogram), _) => Number::Histogram { buckets: histogram.buckets(), sum_us: histogram.sum_us() },
    }
}

fn in_format(of: &[OnceLock<Bytes>; 2], format: Format) -> &OnceLock<Bytes> {
    let [open_metrics, text] = of;
    match format {
        Format::OpenMetrics => open_metrics,
        Format::Text => text,
    }
}

pub(super) fn gzip(text: &[u8]) -> io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text)?;
    Ok(Bytes::from(encoder.finish()?))
}
