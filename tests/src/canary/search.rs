//! Many secrets sought at once.

use std::fmt;

use aho_corasick::AhoCorasick;
use anyhow::Result;

use super::compressed::inflated;
use super::encoding::{Encoding, Needles, excerpt, folded, needles};

/// Compressed files within compressed files are looked into so often.
const MOST_LAYERS: u32 = 3;
/// Shorter ones would be found by accident.
const SHORTEST: usize = 12;

/// A secret that may be nowhere, and where it was put in.
#[derive(Clone, PartialEq, Eq)]
pub struct Canary {
    /// Where it entered, such as `cookie of a request`: a hit names the leak.
    pub place: String,
    /// The secret.
    pub secret: Vec<u8>,
}

/// A canary that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Of which canary.
    pub place: String,
    /// How it was written.
    pub encoding: Encoding,
    /// What stands around it.
    pub excerpt: String,
}

/// All canaries of a run.
#[derive(Debug)]
pub struct Search {
    exact: Sought,
    folded: Sought,
}

/// Needles of one kind of text.
#[derive(Debug)]
struct Sought {
    automaton: AhoCorasick,
    /// What each needle of the automaton stands for.
    meanings: Vec<(String, Encoding)>,
}

impl Canary {
    /// One that was put in at `place`.
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
    /// For all of these at once.
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

    /// Each canary that stands in `bytes` or in what is compressed in them, once for each form.
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
