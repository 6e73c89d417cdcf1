//! The server configurations that change which layer answers, for each minor.
//!
//! A gate is set only if the minor has it and allows it to be set (kubernetes/apiserver `pkg/features/kube_features.go` at each
//! tag). This list is separate from watchtap's, so that the tests can contradict it.

use observer_tests::{EtcdRelease, Minor, Options};

use super::resource::Resource;

/// One configuration of the servers, with the resources to request.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub(super) name: String,
    /// Flags of the API server.
    pub(super) flags: Vec<String>,
    pub(super) etcd: EtcdRelease,
    /// Flags of the tap for facts that no server reports.
    pub(super) tap_flags: Vec<String>,
    pub(super) resources: Vec<Resource>,
}

/// The minor for which only the API server of custom resources exists.
pub(super) const CUSTOM_RESOURCES_ONLY: Minor = Minor(37);

impl Configuration {
    /// All configurations of a minor, the default first.
    pub(super) fn all_of(minor: Minor) -> Vec<Self> {
        let mut all = vec![Self { resources: Self::kinds(minor), ..Self::of(minor, "default", &[]) }];
        for gate in gates(minor) {
            all.push(Self::of(minor, gate, &[&format!("--feature-gates={gate}")]));
        }
        let kinds = Self::kinds(minor).into_iter().filter(|resource| *resource != Resource::events()).collect();
        all.push(Self { resources: kinds, ..Self::of(minor, "--watch-cache=false", &["--watch-cache=false"]) });
        if minor != CUSTOM_RESOURCES_ONLY {
            let flag = format!("--watch-cache-sizes={}#0", usual(minor).name());
            all.push(Self::of(minor, &flag, &[&flag]));
        }
        all.push(Self {
            etcd: EtcdRelease::V3_5_10,
            tap_flags: vec!["--etcd-version=3.5.10".to_owned()],
            ..Self::of(minor, "etcd 3.5.10", &[])
        });
        if minor == CUSTOM_RESOURCES_ONLY {
            all.iter_mut().for_each(Self::add_tap_flags);
        }
        all
    }

    /// Adds watchtap's flags. With `--server-version`, watchtap does not request the server's metrics, so it needs flags for the
    /// other facts, too.
    fn add_tap_flags(&mut self) {
        for flag in &self.flags {
            self.tap_flags.extend(flag.strip_prefix("--feature-gates=").map(|gate| format!("--gate={gate}")));
            let uncached =
                (flag == "--watch-cache=false").then(|| self.resources.iter().map(|one| format!("--uncached={}", one.name())));
            self.tap_flags.extend(uncached.into_iter().flatten());
        }
    }

    /// A configuration with the usual resource.
    pub(super) fn of(minor: Minor, name: &str, flags: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            etcd: EtcdRelease::Current,
            tap_flags: Vec::new(),
            resources: vec![usual(minor)],
        }
    }

    /// A resource with a watch cache, one without, and a custom one.
    fn kinds(minor: Minor) -> Vec<Resource> {
        let custom = Resource::custom("widgets");
        if minor == CUSTOM_RESOURCES_ONLY { vec![custom] } else { vec![Resource::podtemplates(), Resource::events(), custom] }
    }

    pub(super) fn options(&self, minor: Minor) -> Options {
        let mut api_server_arguments = self.flags.clone();
        if minor == CUSTOM_RESOURCES_ONLY {
            // The prefix that kube-apiserver uses.
            api_server_arguments.push("--etcd-prefix=/registry".to_owned());
        }
        Options { minor, api_server_arguments, etcd: self.etcd, ..Options::default() }
    }
}

/// A resource with a watch cache.
pub(super) fn usual(minor: Minor) -> Resource {
    if minor == CUSTOM_RESOURCES_ONLY { Resource::custom("widgets") } else { Resource::podtemplates() }
}

/// Each feature gate that affects which layer answers, set to the opposite of its default.
fn gates(minor: Minor) -> &'static [&'static str] {
    match minor.0 {
        29 => &["ConsistentListFromCache=true", "WatchList=true", "WatchFromStorageWithoutResourceVersion=true"],
        31 => &["ConsistentListFromCache=false", "WatchList=true", "WatchFromStorageWithoutResourceVersion=true"],
        33 => &["ConsistentListFromCache=false", "WatchList=true", "ListFromCacheSnapshot=true"],
        34 | 36 => &["WatchList=false", "ListFromCacheSnapshot=false"],
        37 => &["WatchList=false", "ListFromCacheSnapshot=false", "ConsistentListFromCacheSkipTimeoutFallback=true"],
        _ => &[],
    }
}
