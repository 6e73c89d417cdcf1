//! The configurations that change which layer answers, and which of them each minor has.
//!
//! A gate is set only where the minor knows it and lets it be set (kubernetes/apiserver `pkg/features/kube_features.go` at each tag): this
//! list is written by hand, so that it can contradict the product's own.

use observer_tests::{EtcdRelease, Minor, Options};

use super::resource::Resource;

/// One way to run the servers, and what is asked then.
#[derive(Clone, Debug)]
pub(super) struct Configuration {
    pub(super) name: String,
    /// Of the API server.
    pub(super) flags: Vec<String>,
    pub(super) etcd: EtcdRelease,
    /// What the tap is told, where no server says it of itself.
    pub(super) tap_flags: Vec<String>,
    pub(super) resources: Vec<Resource>,
}

/// The minor of which there is the API server of custom resources only.
pub(super) const CUSTOM_RESOURCES_ONLY: Minor = Minor(37);

impl Configuration {
    /// All of a minor, the usual one first.
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
            all.iter_mut().for_each(Self::tell_the_tap);
        }
        all
    }

    /// A tap that is told the version does not ask the server for its metrics, so it is told the rest, too.
    fn tell_the_tap(&mut self) {
        for flag in &self.flags {
            self.tap_flags.extend(flag.strip_prefix("--feature-gates=").map(|gate| format!("--gate={gate}")));
            let uncached =
                (flag == "--watch-cache=false").then(|| self.resources.iter().map(|one| format!("--uncached={}", one.name())));
            self.tap_flags.extend(uncached.into_iter().flatten());
        }
    }

    /// One that asks the usual resource.
    pub(super) fn of(minor: Minor, name: &str, flags: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            etcd: EtcdRelease::Current,
            tap_flags: Vec::new(),
            resources: vec![usual(minor)],
        }
    }

    /// A resource with a watch cache, one without, a custom one.
    fn kinds(minor: Minor) -> Vec<Resource> {
        let custom = Resource::custom("widgets");
        if minor == CUSTOM_RESOURCES_ONLY { vec![custom] } else { vec![Resource::podtemplates(), Resource::events(), custom] }
    }

    pub(super) fn options(&self, minor: Minor) -> Options {
        let mut api_server_arguments = self.flags.clone();
        if minor == CUSTOM_RESOURCES_ONLY {
            // Where kube-apiserver has its keys.
            api_server_arguments.push("--etcd-prefix=/registry".to_owned());
        }
        Options { minor, api_server_arguments, etcd: self.etcd, ..Options::default() }
    }
}

/// A resource with a watch cache.
pub(super) fn usual(minor: Minor) -> Resource {
    if minor == CUSTOM_RESOURCES_ONLY { Resource::custom("widgets") } else { Resource::podtemplates() }
}

/// Each gate that decides which layer answers, turned to what is not its default.
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
