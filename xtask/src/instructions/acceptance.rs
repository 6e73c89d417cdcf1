//! Parses the trailers in commit messages that accept an increase of instructions, such as `Instructions-accepted: decode +5 %:
//! reason`.

use std::str::FromStr;

use anyhow::Context;

/// The key of the trailer (`git interpret-trailers`).
pub(crate) const TRAILER: &str = "Instructions-accepted";

/// An accepted increase of one region.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Acceptance {
    pub(crate) region: String,
    /// The largest accepted increase, in percent.
    pub(crate) percent: f64,
    pub(crate) reason: String,
}

/// Parses the value of the trailer.
impl FromStr for Acceptance {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parsed = || {
            let (change, reason) = text.trim().split_once(':')?;
            let (region, percent) = change.split_once('+')?;
            let percent: f64 = percent.trim().strip_suffix('%')?.trim().parse().ok()?;
            let (region, reason) = (region.trim().to_owned(), reason.trim().to_owned());
            let is_complete = !region.is_empty() && !reason.is_empty() && percent.is_finite();
            is_complete.then_some(Self { region, percent, reason })
        };
        parsed().with_context(|| format!("`{TRAILER}: {text}` is not like `{TRAILER}: decode +5 %: reason`"))
    }
}

/// Parses the trailers of several commits, one value per line, as git prints them.
pub(crate) fn acceptances(lines: &str) -> anyhow::Result<Vec<Acceptance>> {
    lines.lines().filter(|line| !line.trim().is_empty()).map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailer_has_a_region_a_number_and_a_reason() {
        let expected = Acceptance { region: "decode".into(), percent: 5.0, reason: "names of CRDs: they are longer".into() };
        assert_eq!("decode +5 %: names of CRDs: they are longer".parse::<Acceptance>().unwrap(), expected);
        let expected = Acceptance { region: "follow".into(), percent: 3.5, reason: "x".into() };
        assert_eq!(" follow  + 3.5%:x ".parse::<Acceptance>().unwrap(), expected);
    }

    #[test]
    fn incomplete_trailer_error_shows_the_form() {
        for text in
            ["decode +5 %", "decode +5 %: ", "decode 5 %: reason", "+5 %: reason", "decode +x %: reason", "decode +5: reason"]
        {
            let error = text.parse::<Acceptance>().unwrap_err().to_string();
            assert_eq!(error, format!("`{TRAILER}: {text}` is not like `{TRAILER}: decode +5 %: reason`"));
        }
    }

    #[test]
    fn empty_lines_of_commits_without_a_trailer_are_skipped() {
        let lines = "\ndecode +5 %: reason\n\n\nforward +4 %: another\n";
        assert_eq!(acceptances(lines).unwrap().len(), 2);
        assert_eq!(acceptances("\n\n").unwrap(), []);
    }
}
