//! Writes families as text: `OpenMetrics` 1.0, or the text format 0.0.4 of Prometheus.
//!
//! The formats differ in the names of counters, in units and in the last line: prometheus/OpenMetrics `specification/OpenMetrics.md`
//! 1.0.0, and prometheus/docs `docs/instrumenting/exposition_formats.md`. Upper bounds of buckets are written the same way in
//! both (`le="1.0"`), because Prometheus before 3.0 compares them as text.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use observer_core::series::Kind;

use crate::memory_budget::METRICS_PAGE;

/// A format of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// `OpenMetrics` 1.0.
    OpenMetrics,
    /// The text format 0.0.4.
    Text,
}

/// The bounds of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Lines with a number. A histogram has one for each bucket, and two more.
    pub(super) series: usize,
    /// Bytes of text.
    pub(super) bytes: usize,
}

/// A family without its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) help: &'static str,
}

/// A number of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number<'n> {
    /// Written as it is.
    Integer(u64),
    /// Microseconds, written as seconds.
    Micros(u64),
    /// Durations.
    Histogram {
        /// The number in each bucket, without those in lower ones.
        buckets: &'n [u64],
        sum_us: u64,
    },
}

/// Labels and their values.
pub(crate) type Labels<'l> = [(&'l str, Cow<'l, str>)];

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Exposition {
    format: Format,
    bounds: Bounds,
    text: String,
    series: usize,
    left_out: u64,
}

/// Writes the numbers of one family.
pub(crate) struct FamilyWriter<'e> {
    out: &'e mut Exposition,
    /// Without `_total`.
    base: &'static str,
    kind: Kind,
    /// Whether the page is over its bounds.
    is_over: bool,
}

impl Format {
    /// The media type, with its version.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }
}

impl Bounds {
    /// Prometheus has no bound unless one is configured. These keep a scrape within some ten milliseconds.
    pub(super) const OF_A_PAGE: Self = Self { series: 10_000, bytes: METRICS_PAGE };
}

impl Exposition {
    pub(super) const fn new(format: Format, bounds: Bounds) -> Self {
        Self { format, bounds, text: String::new(), series: 0, left_out: 0 }
    }

    /// Writes a family, completely or not at all: a part of its label sets would have wrong sums. A family without label sets is
    /// left out, as `prometheus/client_golang` does.
    pub(crate) fn family(&mut self, head: Head, write: impl FnOnce(&mut FamilyWriter<'_>)) {
        let (length, series) = (self.text.len(), self.series);
        let base = head.name.strip_suffix("_total").unwrap_or(head.name);
        self.head(head, base);
        let mut writer = FamilyWriter { out: self, base, kind: head.kind, is_over: false };
        write(&mut writer);
        if writer.is_over {
            self.left_out = self.left_out.saturating_add(1);
        } else if self.series > series {
            return;
        }
        self.text.truncate(length);
        self.series = series;
    }

    /// Writes the number of families without room, even if the page is full. It is the last family.
    pub(super) fn families_left_out(&mut self, head: Head) {
        let left_out = self.left_out;
        self.bounds = Bounds { series: usize::MAX, bytes: usize::MAX };
        self.family(head, |family| family.sample(&[], Number::Integer(left_out)));
    }

    /// The complete page.
    pub(super) fn finish(mut self) -> String {
        match self.format {
            Format::OpenMetrics => self.text.push_str("# EOF\n"),
            Format::Text => {}
        }
        self.text
    }

    fn head(&mut self, head: Head, base: &str) {
        let kind = match head.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram { .. } => "histogram",
        };
        match self.format {
            Format::OpenMetrics => {
                self.write(format_args!("# HELP {base} {}\n# TYPE {base} {kind}\n", Escaped(head.help)));
                if let Some(unit) = ["seconds", "bytes"].into_iter().find(|unit| has_unit(base, unit)) {
                    self.write(format_args!("# UNIT {base} {unit}\n"));
                }
            }
            Format::Text => {
                let name = head.name;
                self.write(format_args!("# HELP {name} {}\n# TYPE {name} {kind}\n", Escaped(head.help)));
            }
        }
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        // Text in memory cannot fail.
        let _always = self.text.write_fmt(text);
    }
}

impl FamilyWriter<'_> {
    /// Writes the number of a label set.
    pub(crate) fn sample(&mut self, labels: &Labels<'_>, number: Number<'_>) {
        if self.is_over {
            return;
        }
        match (number, self.kind) {
            (Number::Histogram { buckets, sum_us }, Kind::Histogram { bounds }) => self.histogram(labels, bounds, buckets, sum_us),
            (Number::Integer(number), _) => self.number(labels, format_args!("{number}")),
            (Number::Micros(micros), _) => self.number(labels, format_args!("{}", Seconds(micros))),
            (Number::Histogram { buckets, .. }, Kind::Counter | Kind::Gauge) => {
                self.number(labels, format_args!("{}", sum(buckets)));
            }
        }
        let Exposition { bounds, text, series, .. } = &*self.out;
        self.is_over = *series > bounds.series || text.len() > bounds.bytes;
    }

    fn number(&mut self, labels: &Labels<'_>, number: fmt::Arguments<'_>) {
        let suffix = if self.kind == Kind::Counter { "_total" } else { "" };
        self.line(suffix, labels, None, number);
    }

    fn histogram(&mut self, labels: &Labels<'_>, bounds: &[u64], buckets: &[u64], sum_us: u64) {
        let mut below = 0_u64;
        for (count, bound) in buckets.iter().zip(bounds) {
            below = below.saturating_add(*count);
            self.line("_bucket", labels, Some(Bound::Micros(*bound)), format_args!("{below}"));
        }
        self.line("_bucket", labels, Some(Bound::None), format_args!("{}", sum(buckets)));
        self.line("_sum", labels, None, format_args!("{}", Seconds(sum_us)));
        self.line("_count", labels, None, format_args!("{}", sum(buckets)));
    }

    fn line(&mut self, suffix: &str, labels: &Labels<'_>, bound: Option<Bound>, number: fmt::Arguments<'_>) {
        let base = self.base;
        self.out.write(format_args!("{base}{suffix}"));
        let mut before = "{";
        for (name, value) in labels {
            self.out.write(format_args!("{before}{name}=\"{}\"", Escaped(value)));
            before = ",";
        }
        if let Some(bound) = bound {
            self.out.write(format_args!("{before}le=\"{bound}\""));
            before = ",";
        }
        let after = if before == "{" { "" } else { "}" };
        self.out.write(format_args!("{after} {number}\n"));
        self.out.series = self.out.series.saturating_add(1);
    }
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
}

/// Whether a unit is the last word of a name.
fn has_unit(base: &str, unit: &str) -> bool {
    base.strip_suffix(unit).is_some_and(|before| before.ends_with('_'))
}

/// The upper bound of a bucket.
#[derive(Clone, Copy)]
enum Bound {
    Micros(u64),
    None,
}

impl fmt::Display for Bound {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Micros(micros) if micros % 1_000_000 == 0 => write!(to, "{}.0", micros / 1_000_000),
            Self::Micros(micros) => Seconds(*micros).fmt(to),
            Self::None => to.write_str("+Inf"),
        }
    }
}

/// Microseconds as seconds, without zeros at the end.
pub(super) struct Seconds(pub(super) u64);

impl fmt::Display for Seconds {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if micros == 0 {
            return write!(to, "{seconds}");
        }
        let digits = format!("{micros:06}");
        write!(to, "{seconds}.{}", digits.trim_end_matches('0'))
    }
}

/// Text of a help or of a label value. In the text format, a help keeps its quotes; ours have none.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(['\\', '"', '\n']) {
            let (text, escape) = match part.as_bytes().last() {
                Some(b'\\') => (part.strip_suffix('\\'), "\\\\"),
                Some(b'"') => (part.strip_suffix('"'), "\\\""),
                Some(b'\n') => (part.strip_suffix('\n'), "\\n"),
                Some(_) | None => (None, ""),
            };
            to.write_str(text.unwrap_or(part))?;
            to.write_str(escape)?;
        }
        Ok(())
    }
}
