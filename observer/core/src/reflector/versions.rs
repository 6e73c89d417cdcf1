//! Which version of each object a reflector has: what tells a spurious update from news.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use serde::Serialize;

use crate::k8s::ResourceVersion;
use crate::wire::ObjectRef;

/// The versions of a reflector's objects, keyed by namespace and name, as the store of a client is.
///
/// Both are hashes of 64 bits: of a million objects, two are taken for one with a probability of 3 in 10⁸. When the memory
/// for all reflectors is used up, [`Versions::thin`] keeps half of the objects, chosen by their hashes, and numbers become
/// estimates ([`Repeats`]) until a list comes for which there is room.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions {
    by_object: HashMap<u64, u64, BuildHasherDefault<AlreadyHashed>>,
    /// One object in 2 to the power of this is kept.
    thinned: u32,
    /// Whether some of what the reflector was given was not seen, so that something is missing here.
    pub is_partial: bool,
}

/// How an object's version relates to the one that the reflector had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// It had the same one.
    Same,
    /// It had another one, or did not have the object.
    Other,
    /// The object is not in the sample.
    NotSampled,
}

impl Versions {
    /// How many objects are kept.
    pub(super) fn len(&self) -> usize {
        self.by_object.len()
    }

    /// How many objects there are.
    pub(super) fn estimated_len(&self) -> u64 {
        (self.len() as u64).saturating_mul(self.weight())
    }

    /// How many objects one that is kept stands for.
    pub(super) fn weight(&self) -> u64 {
        1_u64.checked_shl(self.thinned).unwrap_or(u64::MAX)
    }

    /// What there is of `object`. What was sent is not always what arrived: a version above `until` counts as not had.
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

    /// Takes the version of `object`.
    pub(super) fn take(&mut self, object: &ObjectRef) {
        let key = key(object);
        if !object.name.is_empty() && self.keeps(key) {
            self.by_object.insert(key, version(object));
        }
    }

    /// `object` is gone.
    pub(super) fn remove(&mut self, object: &ObjectRef) {
        self.by_object.remove(&key(object));
    }

    /// Keeps half of the objects, and of those to come the same share.
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

/// Numbers stand for themselves; of other text, of which clients may do no more than compare, the hash.
fn version(object: &ObjectRef) -> u64 {
    object.resource_version.parse().unwrap_or_else(|_| hash(&[&object.resource_version]))
}

/// FNV-1a of 64 bits over the words and a byte that is in no text behind each, then the finalizer of `SplitMix64`, so that all bits depend on
/// all bytes. The same in every build: a capture replayed years later keeps the same objects.
fn hash(words: &[&str]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0xFF]));
    let sum = bytes.fold(OFFSET, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(PRIME));
    let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Keys are hashes.
#[derive(Clone, Copy, Debug, Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        // The low bits are alike in a sample.
        self.0 = key.rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// How many of the objects that came were known in the very version: the spurious updates of a handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repeats {
    /// Objects that came.
    pub objects: u64,
    /// Those among them that the reflector had in the same version: exact, or estimated.
    pub repeated: u64,
    /// How far the estimate may be off, either way, at 95 % confidence; 0 when `repeated` is exact.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub error: u64,
    /// Whether some of the traffic was not seen, or not understood, so that both numbers are lower bounds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

/// Counts what becomes [`Repeats`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RepeatCounter {
    objects: u64,
    /// Those in the same version, each with the number of objects that it stands for (Horvitz and Thompson, 1952).
    same: u64,
    /// The variance of that number.
    variance: u128,
    /// The most that one stood for.
    heaviest: u64,
}

impl RepeatCounter {
    /// Takes an object, of a table of which one object stands for `weight`.
    pub(super) fn note(&mut self, before: Before, weight: u64) {
        self.objects = self.objects.saturating_add(1);
        self.heaviest = self.heaviest.max(weight);
        if before == Before::Same {
            self.same = self.same.saturating_add(weight);
            self.variance = self.variance.saturating_add(u128::from(weight) * u128::from(weight.saturating_sub(1)));
        }
    }

    /// Takes the numbers of another counter, too.
    pub(super) fn add(&mut self, other: &Self) {
        self.objects = self.objects.saturating_add(other.objects);
        self.same = self.same.saturating_add(other.same);
        self.variance = self.variance.saturating_add(other.variance);
        self.heaviest = self.heaviest.max(other.heaviest);
    }

    pub(super) fn repeats(&self, at_least: bool) -> Repeats {
        Repeats { objects: self.objects, repeated: self.same.min(self.objects), error: self.error(), at_least }
    }

    /// Twice the standard deviation; and where hardly anything was sampled, what three of the heaviest stand for.
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
    fn sample_is_half_each_time_and_the_estimate_keeps_its_promise() {
        let objects: Vec<ObjectRef> = (0..20_000).map(|number| object(&format!("o{number}"), &number.to_string())).collect();
        for thinned in 0..8_u32 {
            let mut versions = Versions::default();
            for object in &objects {
                versions.take(object);
            }
            (0..thinned).for_each(|_| versions.thin());
            let expected = objects.len() >> thinned;
            assert!(versions.len().abs_diff(expected) <= 4 * expected.isqrt(), "{} of {expected}", versions.len());
            // A third changed.
            let mut counter = RepeatCounter::default();
            for (number, object) in objects.iter().enumerate() {
                let changed = ObjectRef { resource_version: "1000000".to_owned(), ..object.clone() };
                counter.note(versions.before(if number % 3 == 0 { &changed } else { object }, None), versions.weight());
            }
            let repeats = counter.repeats(false);
            assert_eq!(repeats.objects, 20_000);
            assert!(repeats.repeated.abs_diff(13_333) <= repeats.error + u64::from(thinned == 0), "{thinned}: {repeats:?}");
            assert!(thinned > 0 || repeats.error == 0, "{repeats:?}");
        }
    }

    #[test]
    fn estimate_without_a_sample_claims_little() {
        let mut counter = RepeatCounter::default();
        (0..1_000).for_each(|_| counter.note(Before::NotSampled, 1 << 20));
        assert_eq!(counter.repeats(false), Repeats { objects: 1_000, repeated: 0, error: 1_000, at_least: false });
        let mut counter = RepeatCounter::default();
        (0..10_000).for_each(|number| counter.note(if number % 10 == 0 { Before::Other } else { Before::NotSampled }, 10));
        assert_eq!(counter.repeats(false), Repeats { objects: 10_000, repeated: 0, error: 30, at_least: false });
    }

    #[test]
    fn sample_that_grows_thinner_on_the_way_is_no_worse() {
        let mut counter = RepeatCounter::default();
        (0..1_000).for_each(|_| counter.note(Before::Other, 1));
        (0..1_000).for_each(|number| counter.note(if number % 8 == 0 { Before::Same } else { Before::NotSampled }, 8));
        let repeats = counter.repeats(false);
        assert_eq!((repeats.objects, repeats.repeated), (2_000, 1_000));
        assert!((100..300).contains(&repeats.error), "{repeats:?}");
    }

    fn object(name: &str, resource_version: &str) -> ObjectRef {
        ObjectRef { name: name.to_owned(), resource_version: resource_version.to_owned(), ..ObjectRef::default() }
    }
}
