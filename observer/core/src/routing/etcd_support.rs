//! The version of the etcd behind an API server, and the capability that depends on it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The version of an etcd, such as 3.5.13.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EtcdVersion {
    /// `3` of 3.5.13.
    pub major: u16,
    /// `5` of 3.5.13.
    pub minor: u16,
    /// `13` of 3.5.13.
    pub patch: u16,
}

/// The error for a string that is not a version of etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an etcd version such as 3.5.13")]
pub struct InvalidEtcdVersion;

impl EtcdVersion {
    /// Whether `RequestWatchProgress` works correctly: 3.4.31 and later within 3.4, then 3.5.13 and later (kubernetes/apiserver
    /// `pkg/storage/feature/feature_support_checker.go`, v0.31 to v0.37; §1.8 of docs/semantics.md).
    pub fn supports_progress_requests(self) -> bool {
        let Self { major, minor, patch } = self;
        ((3, 4, 31)..(3, 5, 0)).contains(&(major, minor, patch)) || (major, minor, patch) >= (3, 5, 13)
    }
}

impl FromStr for EtcdVersion {
    type Err = InvalidEtcdVersion;

    fn from_str(text: &str) -> Result<Self, InvalidEtcdVersion> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let end = text.find(['-', '+']).unwrap_or(text.len());
        let numbers: Result<Vec<u16>, _> = text.get(..end).unwrap_or_default().split('.').map(str::parse).collect();
        match numbers.as_deref() {
            Ok([major, minor, patch]) => Ok(Self { major: *major, minor: *minor, patch: *patch }),
            Ok(_) | Err(_) => Err(InvalidEtcdVersion),
        }
    }
}

impl fmt::Display for EtcdVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl TryFrom<String> for EtcdVersion {
    type Error = InvalidEtcdVersion;

    fn try_from(text: String) -> Result<Self, InvalidEtcdVersion> {
        text.parse()
    }
}

impl From<EtcdVersion> for String {
    fn from(version: EtcdVersion) -> Self {
        version.to_string()
    }
}

/// The known version of the etcd behind an API server. If there are several endpoints, the oldest version counts. This includes
/// endpoints of an etcd for events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EtcdSupport {
    /// The version of the oldest endpoint.
    Version(EtcdVersion),
    /// The version is unknown; etcd is assumed to answer progress requests.
    #[default]
    AssumedSound,
    /// The version is unknown, and nothing is assumed.
    Unknown,
}

impl EtcdSupport {
    /// Whether it answers progress requests; `None` when that is unknown.
    pub fn supports_progress_requests(self) -> Option<bool> {
        match self {
            Self::Version(version) => Some(version.supports_progress_requests()),
            Self::AssumedSound => Some(true),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_requests_are_reliable_from_the_fixed_patches_on() {
        for (text, sound) in [
            ("3.3.27", false),
            ("3.4.30", false),
            ("3.4.31", true),
            ("3.4.40", true),
            ("3.5.0", false),
            ("v3.5.12", false),
            ("3.5.13", true),
            ("3.6.0-rc.1", true),
            ("4.0.0", true),
        ] {
            assert_eq!(text.parse::<EtcdVersion>().unwrap().supports_progress_requests(), sound, "{text}");
        }
    }

    #[test]
    fn invalid_etcd_versions_are_refused() {
        for text in ["", "3.5", "three", "3.5.x", "3.5.13.1"] {
            assert_eq!(text.parse::<EtcdVersion>(), Err(InvalidEtcdVersion), "{text}");
        }
    }
}
