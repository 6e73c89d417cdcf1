//! The minor versions of the API server for the matrix: `tests/cluster/matrix` has one test for each.

use std::str::FromStr;

/// The minors that have a test.
pub(crate) const MINORS: [&str; 6] = ["1.29", "1.31", "1.33", "1.34", "1.36", "1.37"];

/// The default: one minor before and one with the feature gates that 1.34 enabled by default.
const USUAL: [&str; 2] = ["1.31", "1.34"];

/// The selected minors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matrix {
    chosen: Vec<&'static str>,
}

impl Default for Matrix {
    fn default() -> Self {
        Self { chosen: USUAL.to_vec() }
    }
}

impl Matrix {
    /// A matrix of these minors, which must be in [`MINORS`].
    pub(crate) fn of(chosen: &[&'static str]) -> Self {
        Self { chosen: chosen.to_vec() }
    }

    /// Whether every minor is selected, so that the complete table can be written.
    pub(crate) fn is_complete(&self) -> bool {
        self.left_out().next().is_none()
    }

    /// Arguments of a test binary that skip the other minors.
    pub(crate) fn skips(&self) -> impl Iterator<Item = String> {
        self.left_out().flat_map(|minor| ["--skip".to_owned(), format!("matrix_of_{}", minor.replace('.', "_"))])
    }

    /// The remark on minors that do not run; `None` if all do.
    pub(crate) fn sentence(&self) -> Option<String> {
        let left_out: Vec<&str> = self.left_out().collect();
        let sentence =
            || format!("of the matrix left out: {}; --cluster all runs them, for some minutes each", left_out.join(", "));
        (!left_out.is_empty()).then(sentence)
    }

    fn left_out(&self) -> impl Iterator<Item = &'static str> {
        MINORS.into_iter().filter(|minor| !self.chosen.contains(minor))
    }
}

/// Parses `all`, or minors separated by commas.
impl FromStr for Matrix {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        if text == "all" {
            return Ok(Self { chosen: MINORS.to_vec() });
        }
        let minor = |name: &str| {
            let known = MINORS.into_iter().find(|minor| *minor == name);
            known.ok_or_else(|| anyhow::anyhow!("there is no `{name}`: it is `all`, or some of {}", MINORS.join(",")))
        };
        Ok(Self { chosen: text.split(',').map(minor).collect::<anyhow::Result<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchosen_minors_are_skipped_and_named() {
        let matrix: Matrix = "1.31,1.36".parse().unwrap();
        let skips: Vec<String> = matrix.skips().collect();
        assert_eq!(skips.len(), 8);
        assert_eq!(skips[..2], ["--skip", "matrix_of_1_29"]);
        let sentence = "of the matrix left out: 1.29, 1.33, 1.34, 1.37; --cluster all runs them, for some minutes each";
        assert_eq!(matrix.sentence().as_deref(), Some(sentence));
        assert!(!matrix.is_complete());
    }

    #[test]
    fn matrix_of_all_skips_no_minor() {
        let matrix: Matrix = "all".parse().unwrap();
        assert!(matrix.is_complete());
        assert_eq!((matrix.skips().count(), matrix.sentence()), (0, None));
        assert!(!Matrix::default().is_complete());
    }

    #[test]
    fn unknown_minor_error_lists_the_known_ones() {
        let error = "1.30".parse::<Matrix>().unwrap_err().to_string();
        assert_eq!(error, "there is no `1.30`: it is `all`, or some of 1.29,1.31,1.33,1.34,1.36,1.37");
    }
}
