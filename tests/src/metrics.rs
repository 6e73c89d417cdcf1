//! Parses a server's metrics in the Prometheus text format, to the extent that tests need.

use anyhow::{Context, Result, bail};

/// One scrape of `/metrics`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Series {
    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn value(&self) -> f64 {
        self.value
    }
}

impl Metrics {
    /// Parses a scrape. It skips comments; any other line that is not a sample is an error.
    pub fn parse(text: &str) -> Result<Self> {
        let samples = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let series = samples.map(|line| sample(line).with_context(|| format!("not a sample: {line}")));
        Ok(Self { series: series.collect::<Result<_>>()? })
    }

    /// The sum over the series with this name and all these labels. It is 0 if there is none, because a server exposes a counter
    /// only after its first count.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.named(name)
            .filter(|series| labels.iter().all(|(label, value)| series.label(label) == Some(value)))
            .map(Series::value)
            // An empty sum would be -0.
            .fold(0.0, |sum, value| sum + value)
    }

    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(move |series| series.name == name)
    }
}

/// `name{label="value",…} value`, optionally followed by a timestamp.
fn sample(line: &str) -> Result<Series> {
    let name_end = line.find(|c: char| c == '{' || c.is_whitespace()).context("a name without a value")?;
    let (name, rest) = line.split_at(name_end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (Vec::new(), rest),
    };
    let value = rest.split_whitespace().next().context("no value")?;
    Ok(Series { name: name.to_owned(), labels, value: value.parse()? })
}

/// Labels up to the closing brace, and the rest of the line.
fn labels(mut text: &str) -> Result<(Vec<(String, String)>, &str)> {
    let mut labels = Vec::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix('}') {
            return Ok((labels, rest));
        }
        let (name, after_name) = text.split_once("=\"").context("a label without a value")?;
        let (value, rest) = quoted(after_name)?;
        labels.push((name.to_owned(), value));
        text = rest;
    }
}

/// Text up to the closing quote with its three escapes undone, and the rest of the line.
fn quoted(text: &str) -> Result<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Ok((value, text.get(at + 1..).unwrap_or_default())),
            '\\' => match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, escaped)) => value.push(escaped),
                None => bail!("an escape at the end"),
            },
            other => value.push(other),
        }
    }
    bail!("a label value without an end")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRAPE: &str = r#"# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{code="200",verb="LIST"} 3
requests_total{code="200",verb="GET"} 4 1395066363000
requests_total{code="500",verb="LIST"} 1e+02
up 1
odd{path="a\"b\\c,}",x=""} 0.5
"#;

    #[test]
    fn matching_series_are_summed() {
        let metrics = Metrics::parse(SCRAPE).unwrap();
        let value = |name, labels: &[(&str, &str)]| metrics.value(name, labels).to_string();
        assert_eq!(value("requests_total", &[]), "107");
        assert_eq!(value("requests_total", &[("code", "200")]), "7");
        assert_eq!(value("requests_total", &[("code", "200"), ("verb", "LIST")]), "3");
        assert_eq!(value("requests_total", &[("code", "404")]), "0");
        assert_eq!(value("up", &[]), "1");
    }

    #[test]
    fn escaped_label_values_are_unescaped() {
        let metrics = Metrics::parse(SCRAPE).unwrap();
        assert_eq!(metrics.value("odd", &[("path", "a\"b\\c,}")]).to_string(), "0.5");
    }

    #[test]
    fn invalid_sample_line_is_an_error() {
        for text in ["lonely", "a{b=\"c\" 1", "a{b} 1", "a x"] {
            assert!(Metrics::parse(text).is_err(), "{text}");
        }
    }
}
