//! An error and its causes on one line.

use std::error::Error;
use std::iter::successors;

/// Joins an error with its causes, and skips a cause that the text already contains.
pub(crate) fn in_words(error: &(dyn Error + 'static)) -> String {
    let chain = successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).fold(String::new(), |joined, cause| match joined.as_str() {
        "" => cause,
        joined if joined.contains(&cause) => joined.to_owned(),
        joined => format!("{joined}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn cause_is_named_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("no way to {place}: {source}; try another")]
        struct NoWay {
            place: &'static str,
            source: io::Error,
        }
        let source = || io::Error::other("the bridge is up");
        let error = anyhow::Error::from(NoWay { place: "town", source: source() }).context("no bread");
        assert_eq!(in_words(error.as_ref()), "no bread: no way to town: the bridge is up; try another");
        assert_eq!(in_words(anyhow::Error::from(source()).context("no way").as_ref()), "no way: the bridge is up");
    }
}
