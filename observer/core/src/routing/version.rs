//! Versions of kube-apiserver: as a server states them, and the releases that the tables cover.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// Maximum length of a version that is parsed, in bytes.
const MAX_TEXT: usize = 128;

/// A release of Kubernetes 1.x, in the form that the tables compare. A pre-release has the number of the release that it precedes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// `34` of 1.34.4.
    pub minor: u16,
    /// `4` of 1.34.4; [`Release::LAST_PATCH`] stands for the newest patch, whatever it is.
    pub patch: u16,
}

impl Release {
    /// Stands for the newest patch of a minor.
    pub const LAST_PATCH: u16 = u16::MAX;
    /// The oldest release that the tables cover.
    pub const OLDEST: Self = Self::new(16, 0);
    /// The newest release that the tables cover. The rules of 1.37 come from a beta.
    pub const NEWEST: Self = Self::new(37, Self::LAST_PATCH);

    /// 1.`minor`.`patch`.
    pub const fn new(minor: u16, patch: u16) -> Self {
        Self { minor, patch }
    }

    /// Whether the rules of this minor come from a pre-release only.
    pub const fn is_provisional(self) -> bool {
        self.minor == Self::NEWEST.minor
    }

    /// The first release after this one.
    pub(super) const fn next(self) -> Self {
        if self.patch == Self::LAST_PATCH {
            Self::new(self.minor.saturating_add(1), 0)
        } else {
            Self::new(self.minor, self.patch.saturating_add(1))
        }
    }

    /// The last release before this one.
    pub(super) const fn previous(self) -> Self {
        if self.patch == 0 {
            Self::new(self.minor.saturating_sub(1), Self::LAST_PATCH)
        } else {
            Self::new(self.minor, self.patch.saturating_sub(1))
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.patch == Self::LAST_PATCH {
            write!(formatter, "1.{}", self.minor)
        } else {
            write!(formatter, "1.{}.{}", self.minor, self.patch)
        }
    }
}

/// All releases from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Versions {
    /// The oldest.
    pub first: Release,
    /// The newest.
    pub last: Release,
}

impl Versions {
    /// Every release that the tables cover.
    pub const ALL: Self = Self { first: Release::OLDEST, last: Release::NEWEST };

    /// All patches of the minors `first` to `last`.
    pub const fn minors(first: u16, last: u16) -> Self {
        Self { first: Release::new(first, 0), last: Release::new(last, Release::LAST_PATCH) }
    }

    /// All patches of `minor` and of every later minor.
    pub const fn since(minor: u16) -> Self {
        Self { first: Release::new(minor, 0), last: Release::NEWEST }
    }

    /// The patches `first` to `last` of one minor.
    pub const fn patches(minor: u16, first: u16, last: u16) -> Self {
        Self { first: Release::new(minor, first), last: Release::new(minor, last) }
    }

    /// Whether `release` is one of them.
    pub fn contains(self, release: Release) -> bool {
        (self.first..=self.last).contains(&release)
    }
}

impl Serialize for Versions {
    /// Serializes as its `Display` text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Versions {
    /// Writes the range as `1.16 – 1.30`, `1.33.0 – 1.33.2` or `1.32`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = *self;
        if first == last {
            return write!(formatter, "{first}");
        }
        let whole_minors = first.patch == 0 && last.patch == Release::LAST_PATCH;
        let one_minor = first.minor == last.minor;
        match (whole_minors, one_minor) {
            (true, true) => write!(formatter, "1.{}", first.minor),
            (true, false) => write!(formatter, "1.{} – 1.{}", first.minor, last.minor),
            (false, true) if last.patch == Release::LAST_PATCH => write!(formatter, "{first} – 1.{}.x", last.minor),
            (false, _) => write!(formatter, "{first} – {last}"),
        }
    }
}

/// The version that an API server states, such as `v1.34.4-gke.123`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerVersion {
    minor: u16,
    patch: Option<u16>,
    suffix: String,
}

/// The error for a string that states no usable version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidVersion {
    /// Not of the form `v1.34.4`, `1.34` or `1.34.4-suffix`.
    #[error("not a version such as v1.34.4")]
    NotAVersion,
    /// `v0.0.0-master+$Format:%H$`: built without version stamps.
    #[error("the server was built without a version; pass --server-version")]
    Unstamped,
    /// A major version other than 1.
    #[error("not a Kubernetes 1.x version")]
    NotKubernetes1,
}

impl ServerVersion {
    /// `34` of 1.34.4.
    pub const fn minor(&self) -> u16 {
        self.minor
    }

    /// `4` of 1.34.4; `None` when only the minor is known.
    pub const fn patch(&self) -> Option<u16> {
        self.patch
    }

    /// The newest release that the tables cover, if this version is newer: its rules are used. `None` for any other version.
    pub fn borrowed_from(&self) -> Option<Release> {
        (self.minor > Release::NEWEST.minor).then_some(Release::NEWEST)
    }

    /// The release whose rules apply. If the patch is unknown, this is the newest release of the minor.
    pub fn release(&self) -> Release {
        self.borrowed_from().unwrap_or(Release::new(self.minor, self.patch.unwrap_or(Release::LAST_PATCH)))
    }

    /// Whether this version is older than every release that the tables cover.
    pub fn is_too_old(&self) -> bool {
        self.minor < Release::OLDEST.minor
    }

    /// The releases whose rules can apply. This is one release if the patch is known, or if the version is newer than all that the
    /// tables cover. Otherwise, these are all releases of `known` with the same minor.
    pub(super) fn releases(&self, known: fn() -> &'static BTreeSet<Release>) -> Vec<Release> {
        if let Some(newest) = self.borrowed_from() {
            return vec![newest];
        }
        match self.patch {
            Some(patch) => vec![Release::new(self.minor, patch)],
            None => known().iter().copied().filter(|release| release.minor == self.minor).collect(),
        }
    }
}

impl FromStr for ServerVersion {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        if text.len() > MAX_TEXT {
            return Err(InvalidVersion::NotAVersion);
        }
        let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
        let (numbers, suffix) = text.split_at_checked(end).ok_or(InvalidVersion::NotAVersion)?;
        let numbers: Result<Vec<u16>, _> = numbers.split('.').map(str::parse).collect();
        let (major, minor, patch) = match numbers.as_deref() {
            Ok([major, minor]) => (*major, *minor, None),
            Ok([major, minor, patch]) => (*major, *minor, Some(*patch)),
            Ok(_) | Err(_) => return Err(InvalidVersion::NotAVersion),
        };
        if major == 0 {
            return Err(InvalidVersion::Unstamped);
        }
        if major != 1 {
            return Err(InvalidVersion::NotKubernetes1);
        }
        let is_sound = suffix.chars().all(|character| character.is_ascii_alphanumeric() || "-+._".contains(character));
        if !is_sound || !(suffix.is_empty() || suffix.starts_with(['-', '+'])) {
            return Err(InvalidVersion::NotAVersion);
        }
        Ok(Self { minor, patch, suffix: suffix.to_owned() })
    }
}

impl From<Release> for ServerVersion {
    fn from(release: Release) -> Self {
        Self { minor: release.minor, patch: Some(release.patch), suffix: String::new() }
    }
}

impl TryFrom<String> for ServerVersion {
    type Error = InvalidVersion;

    fn try_from(text: String) -> Result<Self, InvalidVersion> {
        text.parse()
    }
}

impl From<ServerVersion> for String {
    fn from(version: ServerVersion) -> Self {
        version.to_string()
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v1.{}", self.minor)?;
        if let Some(patch) = self.patch {
            write!(formatter, ".{patch}")?;
        }
        formatter.write_str(&self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_servers_and_vendors_are_read_and_shown_as_stated() {
        for (text, minor, patch, shown) in [
            ("v1.34.4", 34, Some(4), "v1.34.4"),
            ("1.34", 34, None, "v1.34"),
            ("v1.34.4-gke.123", 34, Some(4), "v1.34.4-gke.123"),
            ("v1.31.2+k3s1", 31, Some(2), "v1.31.2+k3s1"),
            ("v1.31.2-eks-7f9249a", 31, Some(2), "v1.31.2-eks-7f9249a"),
            ("v1.37.0-beta.0", 37, Some(0), "v1.37.0-beta.0"),
            ("1.16+", 16, None, "v1.16+"),
        ] {
            let version: ServerVersion = text.parse().unwrap();
            assert_eq!((version.minor(), version.patch(), version.to_string().as_str()), (minor, patch, shown));
        }
    }

    #[test]
    fn texts_without_a_usable_version_are_refused_with_the_reason() {
        for (text, expected) in [
            ("v0.0.0-master+$Format:%H$", InvalidVersion::Unstamped),
            ("v2.1.0", InvalidVersion::NotKubernetes1),
            ("", InvalidVersion::NotAVersion),
            ("1", InvalidVersion::NotAVersion),
            ("1.34.4.1", InvalidVersion::NotAVersion),
            ("1.34.x", InvalidVersion::NotAVersion),
            ("1.34.4\u{1b}[31m", InvalidVersion::NotAVersion),
            ("1.99999.0", InvalidVersion::NotAVersion),
        ] {
            assert_eq!(text.parse::<ServerVersion>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn newer_version_borrows_the_newest_known_rules() {
        static NONE: BTreeSet<Release> = BTreeSet::new();
        let version: ServerVersion = "1.38.1".parse().unwrap();
        assert_eq!(version.borrowed_from(), Some(Release::NEWEST));
        assert_eq!(version.releases(|| &NONE), [Release::NEWEST]);
        assert_eq!("1.37.9".parse::<ServerVersion>().unwrap().borrowed_from(), None);
    }

    #[test]
    fn version_spans_are_shown_in_short_form() {
        for (versions, expected) in [
            (Versions::minors(16, 30), "1.16 – 1.30"),
            (Versions::minors(32, 32), "1.32"),
            (Versions::patches(33, 0, 2), "1.33.0 – 1.33.2"),
            (Versions { first: Release::new(33, 3), last: Release::NEWEST }, "1.33.3 – 1.37"),
            (Versions::patches(33, 1, 1), "1.33.1"),
            (Versions { first: Release::new(27, 13), last: Release::new(27, Release::LAST_PATCH) }, "1.27.13 – 1.27.x"),
        ] {
            assert_eq!(versions.to_string(), expected);
        }
    }
}
