//! The flag that exports by OTLP, for every command that observes.

use anyhow::{Context, Result};
use clap::Args;

use crate::memory_budget::MemoryBudget;
use crate::metrics::MetricsReader;
use crate::otlp::{Bounds, OtlpSink, Settings};

/// Whether to export, and where to.
#[derive(Clone, Debug, Args)]
pub(crate) struct OtlpFlags {
    /// Export events as log records, and metrics once a minute, to an OpenTelemetry collector, by OTLP over HTTP (docs/otlp.md). Without URL, it is
    /// that of `OTEL_EXPORTER_OTLP_ENDPOINT`, otherwise port 4318 of localhost. Tokens belong in `OTEL_EXPORTER_OTLP_HEADERS`
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    otlp: Option<String>,

    /// Also export spans: relists, failed requests, those of more than a second, those in a trace that the client records, and one in
    /// a hundred of the others
    #[arg(long, requires = "otlp")]
    otlp_spans: bool,
}

impl OtlpFlags {
    /// Starts to export; `None` without the flag. A variable alone does not start it: a client's own variables, which watchtap
    /// inherits, are not meant for watchtap.
    pub(crate) fn start(&self, reader: impl FnOnce() -> MetricsReader, memory: &MemoryBudget) -> Result<Option<OtlpSink>> {
        let Some(url) = &self.otlp else { return Ok(None) };
        let url = Some(url.as_str()).filter(|url| !url.is_empty());
        let variable = |name: &str| std::env::var_os(name);
        let settings = if self.otlp_spans { Settings::with_spans(url, variable) } else { Settings::without_spans(url, variable) }?;
        let bounds = Bounds { memory: memory.otlp, ..Bounds::default() };
        OtlpSink::start(settings, reader(), bounds).context("cannot export by OTLP").map(Some)
    }
}
