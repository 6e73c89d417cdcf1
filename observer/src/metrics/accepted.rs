//! Chooses format and coding of a page by the request's `Accept` and `Accept-Encoding` (RFC 9110, section 12.5).

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderName};

use super::exposition::Format;

/// How a page is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) format: Format,
    pub(super) coding: Coding,
}

/// The coding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
}

impl Accepted {
    /// `OpenMetrics` only where it is preferred to plain text: a browser or curl accepts all types, and shows plain text.
    pub(super) fn by(headers: &HeaderMap) -> Self {
        let of_open_metrics = weight(headers, ACCEPT, is_open_metrics);
        let of_text = weight(headers, ACCEPT, |range| ["text/plain", "text/*", "*/*"].contains(&media_type(range)));
        let format = if of_open_metrics > 0 && of_open_metrics >= of_text { Format::OpenMetrics } else { Format::Text };
        let coding = if weight(headers, ACCEPT_ENCODING, |coding| media_type(coding) == "gzip") > 0 {
            Coding::Gzip
        } else {
            Coding::Identity
        };
        Self { format, coding }
    }
}

/// A range without a version means 1.0.0, as in prometheus/common `expfmt/encode.go`.
fn is_open_metrics(range: &str) -> bool {
    let version = range.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("version="));
    media_type(range) == "application/openmetrics-text" && version.is_none_or(|version| version.trim_matches('"') == "1.0.0")
}

fn media_type(range: &str) -> &str {
    range.split(';').next().unwrap_or_default().trim()
}

/// The largest weight of the elements of a list that `is_meant` selects, in thousandths; 0 if there is none.
fn weight(headers: &HeaderMap, name: HeaderName, is_meant: impl Fn(&str) -> bool) -> u16 {
    let lists = headers.get_all(name).into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).filter(|element| is_meant(element)).map(of_element).max().unwrap_or(0)
}

/// `q=0.5` is 500. Without a weight, it is 1; one that cannot be read is 0.
fn of_element(element: &str) -> u16 {
    let weight = element.split(';').skip(1).find_map(|parameter| parameter.trim().strip_prefix("q="));
    weight.map_or(1_000, |weight| {
        let (ones, rest) = weight.split_once('.').unwrap_or((weight, ""));
        match (ones, format!("{rest:0<3}").parse::<u16>()) {
            ("1", _) => 1_000,
            ("0", Ok(thousandths)) if rest.len() <= 3 => thousandths,
            _ => 0,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_and_coding_are_those_that_the_scraper_prefers() {
        use Coding::{Gzip, Identity};
        use Format::{OpenMetrics, Text};

        for (accept, encoding, expected) in [
            ("", "", (Text, Identity)),
            ("*/*", "gzip, deflate, br", (Text, Gzip)),
            ("text/html,application/xhtml+xml,*/*;q=0.8", "gzip;q=0", (Text, Identity)),
            // Prometheus 2.42, scrape/scrape.go.
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                 text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                "gzip",
                (OpenMetrics, Gzip),
            ),
            // Prometheus 3 adds an escaping scheme.
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;q=0.3",
                "gzip;q=0.001",
                (OpenMetrics, Gzip),
            ),
            ("application/openmetrics-text", "identity", (OpenMetrics, Identity)),
            ("application/openmetrics-text; version=0.0.1", "", (Text, Identity)),
            ("application/openmetrics-text;q=0.4,text/plain;q=0.5", "", (Text, Identity)),
            ("application/openmetrics-text;q=0", "gzip;q=1.0", (Text, Gzip)),
            ("application/openmetrics-text;q=2", "gzip;q=yes", (Text, Identity)),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().unwrap());
            headers.insert(ACCEPT_ENCODING, encoding.parse().unwrap());
            let accepted = Accepted::by(&headers);
            assert_eq!((accepted.format, accepted.coding), expected, "{accept} {encoding}");
        }
    }
}
