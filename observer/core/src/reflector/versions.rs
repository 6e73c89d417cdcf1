//! The version of each object that a reflector has. It distinguishes spurious updates from changes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::Serialize;

use crate::k8s::ResourceVersion;
use crate::quantity::Amount;
use crate::wire::ObjectRef;

/// The versions of a reflector's objects, keyed by namespace and name, like the store of a client.
///
/// Keys are hashes of 64 bits: among a million objects, two share a key with a probability of 3 in 10⁸. When the memory for all
/// reflectors is used up, [`Versions::thin`] keeps half of the objects, chosen by their hashes. Counts are then estimates
/// ([`Repeats`]), until a list arrives for which there is room.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions {
    by_object: HashMap<u64, u64, BuildHasherDefault<AlreadyHashed>>,
    /// One object in 2^`thinned` is kept.
    thinned: u32,
    /// Whether part of the reflector's traffic was not observed, so that versions may be missing.
    pub is_partial: bool,
}

/// How an object's version relates to the version that the reflector had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It had the same version.
    Same,
    /// It had another version, or did not have the object.
    Other,
    /// The object is not in the sample.
    NotSampled,
}

impl Versions {
    /// Number of objects kept.
    pub(super) fn len(&self) -> usize {
        self.by_object.len()
    }

    /// Estimated number of objects of the reflector.
    pub(super) fn estimated_len(&self) -> u64 {
        (self.len() as u64).saturating_mul(self.weight())
    }

    /// Number of objects that each kept object stands for.
    pub(super) fn weight(&self) -> u64 {
        1_u64.checked_shl(self.thinned).unwrap_or(u64::MAX)
    }

    /// Compares `object` with the version that was sent before. A version above `until` does not count: it was sent, but may not
    /// have arrived.
    pub(super) fn before(&self, object: &ObjectRef, until: Option<u64>) -> Before {
        if object.name.is_empty() {
            return Before::Other;
        }
        let key = key(object);
        if !self.keeps(key) {
            return Before::NotSampled;
        }
        let is_same = self.by_object.get(&key) == Some(&version(object));
        let arrived =
            ResourceVersion::number(&object.resource_version).is_none_or(|number| until.is_none_or(|until| number <= until));
        if is_same && arrived { Before::Same } else { Before::Other }
    }

    /// Adds or replaces the version of `object`.
    pub(super) fn take(&mut self, object: &ObjectRef) {
        let key = key(object);
        if !object.name.is_empty() && self.keeps(key) {
            self.by_object.insert(key, version(object));
        }
    }

    /// Drops `object`, which was deleted.
    pub(super) fn remove(&mut self, object: &ObjectRef) {
        self.by_object.remove(&key(object));
    }

    /// Halves the share of objects that is kept, now and in future.
    pub(super) fn thin(&mut self) {
        self.thinned = self.thinned.saturating_add(1);
        let thinned = self.thinned;
        self.by_object.retain(|key, _| is_kept(*key, thinned));
        self.by_object.shrink_to_fit();
    }

    fn keeps(&self, key: u64) -> bool {
        is_kept(key, self.thinned)
    }
}

fn is_kept(key: u64, thinned: u32) -> bool {
    thinned == 0 || key.trailing_zeros() >= thinned
}

fn key(object: &ObjectRef) -> u64 {
    hash(&[&object.namespace, &object.name])
}

/// The version as a number. A version that is not a number is hashed, since clients may only compare it for equality.
fn version(object: &ObjectRef) -> u64 {
    object.resource_version.parse().unwrap_or_else(|_| hash(&[&object.resource_version]))
}

/// FNV-1a of 64 bits over the strings, each followed by a byte that no string contains. The finalizer of `SplitMix64` then makes
/// all bits depend on all bytes. The result is the same in every build, so a capture replayed years later keeps the same objects.
fn hash(words: &[&str]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0xFF]));
    let sum = bytes.fold(OFFSET, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(PRIME));
    let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A hasher for keys that are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        // All keys of a sample have the same low bits.
        self.0 = key.rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How many of the received objects were unchanged since the last delivery: the spurious updates of an event handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repeats {
    /// Objects received.
    pub objects: Amount,
    /// Those among them that were unchanged since the last delivery, exact or estimated.
    pub repeated: Amount,
    /// Maximum error of the estimate, in either direction, at 95 % confidence; 0 if `repeated` is exact.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub error: u64,
    /// Whether some of the traffic was not observed or not decoded, so that both numbers are lower bounds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl Repeats {
    /// Those of a log, which has no objects.
    pub(super) const UNKNOWN: Self = Self { objects: Amount::UNKNOWN, repeated: Amount::UNKNOWN, error: 0, at_least: false };
}

/// Accumulates [`Repeats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RepeatCounter {
    objects: u64,
    /// Unchanged objects, each with the number of objects that it stands for as weight (Horvitz and Thompson, 1952).
    same: u64,
    /// Variance of `same`.
    variance: u128,
    /// The highest weight so far.
    heaviest: u64,
}

impl RepeatCounter {
    /// Counts an object, compared with a table whose objects stand for `weight` objects each.
    pub(super) fn note(&mut self, before: Before, weight: u64) {
        self.objects = self.objects.saturating_add(1);
        self.heaviest = self.heaviest.max(weight);
        if before == Before::Same {
            self.same = self.same.saturating_add(weight);
            self.variance = self.variance.saturating_add(u128::from(weight) * u128::from(weight.saturating_sub(1)));
        }
    }

    /// Adds the counts of another counter.
    pub(super) fn add(&mut self, other: &Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.same = self.same.saturating_add(other.same);
        self.variance = self.variance.saturating_add(other.variance);
        self.heaviest = self.heaviest.max(other.heaviest);
    }

    pub(super) fn repeats(&self, at_least: bool) -> Repeats {
        Repeats {
            objects: Amount::of(self.objects),
            repeated: Amount::of(self.same.min(self.objects)),
            error: self.error(),
            at_least,
        }
    }

    /// Twice the standard deviation, but at least three times the highest weight, for very small samples.
    fn error(&self) -> u64 {
        if self.heaviest <= 1 {
            return 0;
        }
        let deviation = u64::try_from(self.variance.isqrt()).unwrap_or(u64::MAX);
        deviation.saturating_mul(2).max(self.heaviest.saturating_mul(3)).min(self.objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_version_is_known_until_it_changes_or_goes() {
        let mut versions = Versions::default();
        let (old, new) = (object("a", "7"), object("a", "8"));
        assert_eq!(versions.before(&old, None), Before::Other);
        versions.take(&old);
        assert_eq!((versions.before(&old, None), versions.before(&new, None)), (Before::Same, Before::Other));
        versions.take(&new);
        assert_eq!((versions.before(&old, None), versions.before(&new, None)), (Before::Other, Before::Same));
        versions.remove(&new);
        assert_eq!((versions.before(&new, None), versions.len()), (Before::Other, 0));
    }

    #[test]
    fn names_are_not_mixed_up_with_namespaces_nor_versions_with_numbers() {
        let mut versions = Versions::default();
        versions.take(&ObjectRef { namespace: "a".to_owned(), ..object("bc", "1") });
        assert_eq!(versions.before(&ObjectRef { namespace: "ab".to_owned(), ..object("c", "1") }, None), Before::Other);
        for revision in ["", "abc", "99999999999999999999999", "18446744073709551615", "-1"] {
            versions.take(&object("x", revision));
            assert_eq!(versions.before(&object("x", revision), None), Before::Same, "{revision}");
            assert_eq!(versions.before(&object("x", "5"), None), Before::Other, "{revision}");
        }
    }

    #[test]
    fn thinning_halves_the_sample_and_estimates_stay_within_error() {
        let objects: Vec<ObjectRef> = (0..20_000).map(|number| object(&format!("o{number}"), &number.to_string())).collect();
        for thinned in 0..8_u32 {
            let mut versions = Versions::default();
            for object in &objects {
                versions.take(object);
            }
            (0..thinned).for_each(|_| versions.thin());
            let expected = objects.len() >> thinned;
            assert!(versions.len().abs_diff(expected) <= 4 * expected.isqrt(), "{} of {expected}", versions.len());
            // A third of the objects changed.
            let mut counter = RepeatCounter::default();
            for (number, object) in objects.iter().enumerate() {
                let changed = ObjectRef { resource_version: "1000000".to_owned(), ..object.clone() };
                counter.note(versions.before(if number % 3 == 0 { &changed } else { object }, None), versions.weight());
            }
            let repeats = counter.repeats(false);
            assert_eq!(repeats.objects, 20_000);
            assert!(
                repeats.repeated.or_zero().abs_diff(13_333) <= repeats.error + u64::from(thinned == 0),
                "{thinned}: {repeats:?}"
            );
            assert!(thinned > 0 || repeats.error == 0, "{repeats:?}");
        }
    }

    #[test]
    fn estimate_from_a_small_sample_claims_no_repeats() {
        let mut counter = RepeatCounter::default();
        (0..1_000).for_each(|_| counter.note(Before::NotSampled, 1 << 20));
        assert_eq!(
            counter.repeats(false),
            Repeats { objects: 1_000_u64.into(), repeated: 0_u64.into(), error: 1_000, at_least: false }
        );
        let mut counter = RepeatCounter::default();
        (0..10_000).for_each(|number| counter.note(if number % 10 == 0 { Before::Other } else { Before::NotSampled }, 10));
        assert_eq!(
            counter.repeats(false),
            Repeats { objects: 10_000_u64.into(), repeated: 0_u64.into(), error: 30, at_least: false }
        );
    }

    #[test]
    fn estimate_holds_when_the_sample_is_thinned_midway() {
        let mut counter = RepeatCounter::default();
        (0..1_000).for_each(|_| counter.note(Before::Other, 1));
        (0..1_000).for_each(|number| counter.note(if number % 8 == 0 { Before::Same } else { Before::NotSampled }, 8));
        let repeats = counter.repeats(false);
        assert_eq!((repeats.objects.or_zero(), repeats.repeated.or_zero()), (2_000, 1_000));
        assert!((100..300).contains(&repeats.error), "{repeats:?}");
    }

    fn object(name: &str, resource_version: &str) -> ObjectRef {
        ObjectRef { name: name.to_owned(), resource_version: resource_version.to_owned(), ..ObjectRef::default() }
    }
}
