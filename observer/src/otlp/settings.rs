//! The settings of an export, from the flag and from the variables of the OpenTelemetry specification.
//!
//! A variable of one signal (`OTEL_EXPORTER_OTLP_LOGS_TIMEOUT`) goes before the one for all (`OTEL_EXPORTER_OTLP_TIMEOUT`), and
//! an empty one counts as unset. The URL of a flag, and that of `OTEL_EXPORTER_OTLP_ENDPOINT`, is the base of all signals; that of
//! one signal is complete.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::destination::{Compression, Destination};
use super::endpoint::{Endpoint, EndpointError};
use super::headers::{Headers, HeadersError};
use super::resource::Resource;
use crate::api_server::UpstreamTrust;
use crate::bounded_file;

/// The address without a flag or a variable: the standard port of OTLP over HTTP on this machine.
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";
/// The time limit without a variable.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The interval without a variable.
const DEFAULT_INTERVAL: Duration = Duration::from_mins(1);
/// The variable for this interval.
const INTERVAL: &str = "OTEL_METRIC_EXPORT_INTERVAL";
/// The variable for the kind of numbers that metrics have.
const TEMPORALITY: &str = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
/// Largest file of certificates, in bytes.
const MAX_CERTIFICATES: u64 = 4 * 1024 * 1024;
/// The only protocol that is spoken.
const PROTOCOL: &str = "http/protobuf";
/// Prefix of the variables that signals may have each for itself.
const PREFIX: &str = "OTEL_EXPORTER_OTLP_";

/// Where log records, metrics and spans go, and the resource that they belong to.
#[derive(Clone, Debug)]
pub struct Settings {
    pub(super) logs: Destination,
    pub(super) metrics: Destination,
    /// Time between two exports of metrics.
    pub(super) interval: Duration,
    /// `None` if spans are not exported.
    pub(super) spans: Option<Destination>,
    pub(super) resource: Resource,
}

/// A flag or a variable that cannot be used. No value is quoted that may hold a secret.
#[derive(Debug, thiserror::Error)]
#[error("{source_name}: {problem}")]
pub struct SettingsError {
    source_name: String,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Url(EndpointError),
    #[error("watchtap exports by {PROTOCOL} only (port 4318 of most collectors): unset it, or set it to {PROTOCOL}")]
    Protocol,
    #[error("expected key=value pairs, separated by commas, with values in percent encoding (its value is not shown)")]
    NotAList,
    #[error(transparent)]
    Headers(HeadersError),
    #[error("expected a number of milliseconds above 0")]
    Milliseconds,
    #[error("watchtap exports cumulative metrics only: unset it, or set it to cumulative; a collector can convert them to delta")]
    Temporality,
    #[error("expected gzip or none")]
    Compression,
    #[error("cannot read {file}: {error}")]
    Certificate { file: String, error: io::Error },
    #[error("not UTF-8")]
    NotText,
}

impl Problem {
    fn of(self, source: impl Into<String>) -> SettingsError {
        SettingsError { source_name: source.into(), problem: self }
    }
}

impl Settings {
    /// Reads the settings for log records and metrics. `url` is that of the flag, and `variable` looks up an environment variable.
    pub fn without_spans(url: Option<&str>, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, SettingsError> {
        let environment = Environment { variable };
        let attributes = environment.value("OTEL_RESOURCE_ATTRIBUTES")?.unwrap_or_default();
        let name = environment.value("OTEL_SERVICE_NAME")?;
        let resource = Resource::new(&attributes, name).map_err(|_not_a_list| Problem::NotAList.of("OTEL_RESOURCE_ATTRIBUTES"))?;
        environment.check_temporality()?;
        Ok(Self {
            logs: environment.destination(url, "LOGS", "v1/logs")?,
            metrics: environment.destination(url, "METRICS", "v1/metrics")?,
            interval: environment.interval()?,
            spans: None,
            resource,
        })
    }

    /// Reads the settings for spans besides.
    pub fn with_spans(url: Option<&str>, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, SettingsError> {
        let others = Self::without_spans(url, &variable)?;
        let spans = Environment { variable }.destination(url, "TRACES", "v1/traces")?;
        Ok(Self { spans: Some(spans), ..others })
    }
}

struct Environment<V> {
    variable: V,
}

impl<V: Fn(&str) -> Option<OsString>> Environment<V> {
    fn value(&self, name: &str) -> Result<Option<String>, SettingsError> {
        let value = (self.variable)(name).map(OsString::into_string).transpose();
        let value = value.map_err(|_bytes| Problem::NotText.of(name))?;
        Ok(value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()))
    }

    /// The name and the value of a variable: the signal's own, otherwise that for all signals.
    fn of_signal(&self, signal: &str, what: &str) -> Result<Option<(String, String)>, SettingsError> {
        for name in [format!("{PREFIX}{signal}_{what}"), format!("{PREFIX}{what}")] {
            if let Some(value) = self.value(&name)? {
                return Ok(Some((name, value)));
            }
        }
        Ok(None)
    }

    fn destination(&self, url: Option<&str>, signal: &str, path: &str) -> Result<Destination, SettingsError> {
        if let Some((variable, _)) = self.of_signal(signal, "PROTOCOL")?.filter(|(_, protocol)| protocol != PROTOCOL) {
            return Err(Problem::Protocol.of(variable));
        }
        let (trust, trust_variable) = self.trust(signal)?;
        Ok(Destination {
            endpoint: self.endpoint(url, signal, path)?,
            headers: self.headers(signal)?,
            trust,
            trust_variable,
            compression: self.compression(signal)?,
            time_limit: self.time_limit(signal)?,
        })
    }

    fn endpoint(&self, url: Option<&str>, signal: &str, path: &str) -> Result<Endpoint, SettingsError> {
        let parse = |source: &str, url: &str| Endpoint::parse(url).map_err(|error| Problem::Url(error).of(source));
        if let Some(url) = url {
            return Ok(parse("--otlp", url)?.below(path));
        }
        let own = format!("{PREFIX}{signal}_ENDPOINT");
        match self.of_signal(signal, "ENDPOINT")? {
            Some((variable, url)) if variable == own => parse(&variable, &url),
            Some((variable, url)) => Ok(parse(&variable, &url)?.below(path)),
            None => Ok(parse("--otlp", DEFAULT_ENDPOINT)?.below(path)),
        }
    }

    fn headers(&self, signal: &str) -> Result<Headers, SettingsError> {
        let Some((variable, list)) = self.of_signal(signal, "HEADERS")? else { return Ok(Headers::default()) };
        Headers::parse(&list).map_err(|error| Problem::Headers(error).of(variable))
    }

    /// The certificates, and the variable that names them, or would.
    fn trust(&self, signal: &str) -> Result<(UpstreamTrust, String), SettingsError> {
        let Some((variable, file)) = self.of_signal(signal, "CERTIFICATE")? else {
            return Ok((UpstreamTrust::Native, format!("{PREFIX}CERTIFICATE")));
        };
        match bounded_file::read(Path::new(&file), MAX_CERTIFICATES) {
            Ok(certificates) => Ok((UpstreamTrust::Authorities(certificates), variable)),
            Err(error) => Err(Problem::Certificate { file, error }.of(variable)),
        }
    }

    fn compression(&self, signal: &str) -> Result<Compression, SettingsError> {
        match self.of_signal(signal, "COMPRESSION")? {
            None => Ok(Compression::None),
            Some((_, coding)) if coding == "none" => Ok(Compression::None),
            Some((_, coding)) if coding == "gzip" => Ok(Compression::Gzip),
            Some((variable, _)) => Err(Problem::Compression.of(variable)),
        }
    }

    fn time_limit(&self, signal: &str) -> Result<Duration, SettingsError> {
        let Some((variable, milliseconds)) = self.of_signal(signal, "TIMEOUT")? else { return Ok(DEFAULT_TIMEOUT) };
        duration(variable, &milliseconds)
    }

    fn interval(&self) -> Result<Duration, SettingsError> {
        self.value(INTERVAL)?.map_or(Ok(DEFAULT_INTERVAL), |milliseconds| duration(INTERVAL, &milliseconds))
    }

    /// Differences would have to arrive exactly once, and a batch may arrive twice. A collector can compute them.
    fn check_temporality(&self) -> Result<(), SettingsError> {
        let preference = self.value(TEMPORALITY)?;
        match preference.filter(|preference| !preference.eq_ignore_ascii_case("cumulative")) {
            Some(_other) => Err(Problem::Temporality.of(TEMPORALITY)),
            None => Ok(()),
        }
    }
}

fn duration(variable: impl Into<String>, milliseconds: &str) -> Result<Duration, SettingsError> {
    let milliseconds = milliseconds.parse().ok().filter(|milliseconds| *milliseconds > 0);
    milliseconds.map(Duration::from_millis).ok_or_else(|| Problem::Milliseconds.of(variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_goes_before_variables_and_a_signals_variable_before_the_common_one() {
        let (all, own) =
            (("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:1/x"), ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://own:2/y"));
        for (url, variables, expected) in [
            (None, vec![], "http://localhost:4318/v1/logs"),
            (None, vec![all], "http://all:1/x/v1/logs"),
            (None, vec![all, own], "http://own:2/y"),
            (Some("https://flag"), vec![all, own], "https://flag:443/v1/logs"),
            (None, vec![all, ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", " ")], "http://all:1/x/v1/logs"),
        ] {
            assert_eq!(read(url, &variables).unwrap().logs.endpoint.to_string(), expected);
        }
    }

    #[test]
    fn variables_set_time_limit_coding_and_headers() {
        let settings = read(
            None,
            &[
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "250"),
                ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
                ("OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "none"),
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t0k3n"),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ],
        );
        let settings = settings.unwrap();
        let spans = settings.spans.as_ref().unwrap();
        assert_eq!((spans.endpoint.path.as_str(), spans.compression), ("/v1/traces", Compression::Gzip));
        assert_eq!((settings.logs.time_limit, settings.logs.compression), (Duration::from_millis(250), Compression::None));
        assert_eq!(settings.logs.headers.fields().len(), 1);
        assert!(!format!("{settings:?}").contains("t0k3n"), "{settings:?}");
    }

    #[test]
    fn metrics_have_variables_of_their_own() {
        let settings = read(None, &[]).unwrap();
        assert_eq!((settings.metrics.endpoint.path.as_str(), settings.interval), ("/v1/metrics", Duration::from_mins(1)));
        let settings = read(
            None,
            &[
                ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://own:1/x"),
                ("OTEL_METRIC_EXPORT_INTERVAL", "250"),
                ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Cumulative"),
            ],
        );
        let settings = settings.unwrap();
        assert_eq!(settings.metrics.endpoint.to_string(), "http://own:1/x");
        assert_eq!(
            (settings.logs.endpoint.to_string().as_str(), settings.interval.as_millis()),
            ("http://localhost:4318/v1/logs", 250)
        );
    }

    #[test]
    fn unusable_value_is_named_by_its_source_and_not_quoted() {
        for (variable, value, expected) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:s3cr3t@x", "OTEL_EXPORTER_OTLP_ENDPOINT: a user name in the URL"),
            ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "s3cr3t", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: expected the URL"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "s3cr3t", "OTEL_EXPORTER_OTLP_HEADERS: expected key=value pairs"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "host=s3cr3t", "OTEL_EXPORTER_OTLP_HEADERS: watchtap sets the header field host itself"),
            ("OTEL_RESOURCE_ATTRIBUTES", "s3cr3t", "OTEL_RESOURCE_ATTRIBUTES: expected key=value pairs"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL: watchtap exports by http/protobuf only"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "0", "OTEL_EXPORTER_OTLP_TIMEOUT: expected a number of milliseconds"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1m", "OTEL_METRIC_EXPORT_INTERVAL: expected a number of milliseconds"),
            (
                "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
                "Delta",
                "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: watchtap exports cumulative metrics only",
            ),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "OTEL_EXPORTER_OTLP_COMPRESSION: expected gzip or none"),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such/file", "OTEL_EXPORTER_OTLP_CERTIFICATE: cannot read /no/such/file"),
        ] {
            let error = read(None, &[(variable, value)]).unwrap_err().to_string();
            assert!(error.starts_with(expected) && !error.contains("s3cr3t"), "{error}");
        }
        let error = read(Some("ftp://s3cr3t"), &[]).unwrap_err().to_string();
        assert!(error.starts_with("--otlp: expected the URL of a collector") && !error.contains("s3cr3t"), "{error}");
    }

    #[test]
    fn headers_in_clear_text_are_noticed_unless_they_stay_on_this_machine() {
        let headers = ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "authorization=t0k3n");
        for (url, variables, expected) in [
            ("http://collector", vec![headers], true),
            ("http://collector", vec![], false),
            ("https://collector", vec![headers], false),
            ("http://localhost:4318", vec![headers], false),
        ] {
            assert_eq!(read(Some(url), &variables).unwrap().logs.exposes_headers(), expected, "{url}");
        }
    }

    fn read(url: Option<&str>, variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        Settings::with_spans(url, |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
    }
}
