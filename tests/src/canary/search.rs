//! Searches for many secrets at once.

use std::fmt;

use aho_corasick::AhoCorasick;
use anyhow::Result;

use super::compressed::inflated;
use super::encoding::{Encoding, Needles, excerpt, folded, needles};

/// Maximum depth of compressed data within compressed data.
const MOST_LAYERS: u32 = 3;
/// Minimum length in bytes; shorter secrets would match by accident.
const SHORTEST: usize = 12;

/// A secret that must not appear in any output, and the place where the test put it in.
#[derive(Clone, PartialEq, Eq)]
pub struct Canary {
    /// Where it entered, such as `cookie of a request`. It identifies the leak.
    pub place: String,
    /// At least `SHORTEST` bytes.
    pub secret: Vec<u8>,
}

/// A canary that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where the canary entered.
    pub place: String,
    /// The encoding of the match.
    pub encoding: Encoding,
    /// The surrounding bytes.
    pub excerpt: String,
}

/// All canaries of a run.
#[derive(Debug)]
pub struct Search {
    exact: Sought,
    folded: Sought,
}

/// The needles for one kind of text.
#[derive(Debug)]
struct Sought {
    automaton: AhoCorasick,
    /// Place and encoding of each needle, in the automaton's order.
    meanings: Vec<(String, Encoding)>,
}

impl Canary {
    /// A canary that enters at `place`.
    pub fn new(place: &str, secret: impl Into<Vec<u8>>) -> Self {
        Self { place: place.to_owned(), secret: secret.into() }
    }
}

impl fmt::Debug for Canary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Canary({})", self.place)
    }
}

impl fmt::Display for Hit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({:?}): …{}…", self.place, self.encoding, self.excerpt)
    }
}

impl Search {
    /// Builds the automatons for these canaries.
    pub fn new(canaries: &[Canary]) -> Result<Self> {
        let (mut exact, mut folded) = (Vec::new(), Vec::new());
        for Canary { place, secret } in canaries {
            anyhow::ensure!(secret.len() >= SHORTEST, "the canary of {place} is too short to be told from an accident");
            let Needles { exact: as_is, folded: as_folded } = needles(secret);
            exact.extend(as_is.into_iter().map(|(encoding, needle)| (place.clone(), encoding, needle)));
            folded.extend(as_folded.into_iter().map(|(encoding, needle)| (place.clone(), encoding, needle)));
        }
        Ok(Self { exact: Sought::new(exact)?, folded: Sought::new(folded)? })
    }

    /// All canaries in `bytes` and in data compressed within it, once per encoding.
    pub fn hits(&self, bytes: &[u8]) -> Vec<Hit> {
        self.hits_within(bytes, MOST_LAYERS)
    }

    fn hits_within(&self, bytes: &[u8], layers: u32) -> Vec<Hit> {
        let mut hits = self.exact.hits(bytes);
        hits.extend(self.folded.hits(&folded(bytes)));
        if layers > 0 {
            hits.extend(inflated(bytes).iter().flat_map(|text| self.hits_within(text, layers - 1)));
        }
        hits
    }
}

impl Sought {
    fn new(needles: Vec<(String, Encoding, Vec<u8>)>) -> Result<Self> {
        let automaton = AhoCorasick::new(needles.iter().map(|(_, _, needle)| needle))?;
        let meanings = needles.into_iter().map(|(place, encoding, _)| (place, encoding)).collect();
        Ok(Self { automaton, meanings })
    }

    fn hits(&self, bytes: &[u8]) -> Vec<Hit> {
        let mut hits: Vec<Hit> = Vec::new();
        for found in self.automaton.find_overlapping_iter(bytes) {
            let (place, encoding) = &self.meanings[found.pattern().as_usize()];
            if !hits.iter().any(|hit| hit.place == *place && hit.encoding == *encoding) {
                hits.push(Hit { place: place.clone(), encoding: *encoding, excerpt: excerpt(bytes, found.start()) });
            }
        }
        hits
    }
}
