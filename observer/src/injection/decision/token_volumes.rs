//! The volumes from which led containers read their tokens. Each is looked at once, however many containers mount it: a pod of a
//! stranger may have thousands of both.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::containers::Container;
use super::volumes::CLUSTER_CA;

/// The files of the volume with the token. The sidecar links these names, and no others.
pub(in crate::injection) const FILES: [&str; 4] = ["ca.crt", "namespace", SERVICE_CA, "token"];

/// The certificate of `OpenShift`'s services.
const SERVICE_CA: &str = "service-ca.crt";

/// The volumes that led containers mount at the path of the token.
#[derive(Clone, Debug)]
pub(super) struct TokenVolumes<'v> {
    by_name: BTreeMap<&'v str, TokenVolume<'v>>,
}

/// The facts about one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenVolume<'v> {
    /// A file that the sidecar does not link.
    pub(super) other_file: Option<&'v str>,
    has_service_ca: bool,
    /// Whether its certificate may be another than the cluster's: for a container without an address of its own, and for one with it.
    other_certificate: [bool; 2],
}

impl<'v> TokenVolumes<'v> {
    pub(super) fn of(led: &[Container<'v>], spec: &'v Value) -> Self {
        let mounted: BTreeSet<&str> = led.iter().filter_map(mounted).collect();
        let mut by_name = BTreeMap::new();
        for volume in spec.get("volumes").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = name(volume).filter(|name| mounted.contains(name)) {
                by_name.entry(name).or_insert_with(|| TokenVolume::of(volume));
            }
        }
        Self { by_name }
    }

    /// The volume of a led container. `None` if the pod does not have it, or injection adds it.
    pub(super) fn of_container(&self, container: &Container<'v>) -> Option<&TokenVolume<'v>> {
        self.by_name.get(mounted(container)?)
    }

    /// Whether one of them has a certificate of `OpenShift`'s services.
    pub(super) fn have_service_ca(&self) -> bool {
        self.by_name.values().any(|volume| volume.has_service_ca)
    }
}

impl<'v> TokenVolume<'v> {
    fn of(volume: &'v Value) -> Self {
        let files = files(volume);
        Self {
            other_file: files.iter().copied().find(|file| !FILES.contains(file)),
            has_service_ca: files.contains(&SERVICE_CA),
            other_certificate: [false, true].map(|has_own_address| has_other_certificate(volume, has_own_address)),
        }
    }

    /// Whether clients trust another CA than the cluster's.
    pub(super) fn has_other_certificate(&self, has_own_address: bool) -> bool {
        self.other_certificate[usize::from(has_own_address)]
    }
}

fn name(of: &Value) -> Option<&str> {
    of.get("name").and_then(Value::as_str)
}

/// The name of the volume at the path of the token.
fn mounted<'v>(container: &Container<'v>) -> Option<&'v str> {
    container.service_account_mount().and_then(name)
}

/// A Secret may be a token of old, with the cluster's CA; a container that sets an address of its own has it for another API server,
/// though.
fn has_other_certificate(volume: &Value, has_own_address: bool) -> bool {
    let sources = volume.pointer("/projected/sources").and_then(Value::as_array);
    let parts = || sources.into_iter().flatten().chain([volume]);
    let gives_certificate = |source: &Value| {
        let mut paths = source.get("items").and_then(Value::as_array).into_iter().flatten().map(|item| item.get("path"));
        paths.any(|path| path.and_then(Value::as_str) == Some("ca.crt"))
    };
    let is_of_cluster = |config_map: &Value| config_map.get("name").and_then(Value::as_str) == Some(CLUSTER_CA);
    let config_maps = || parts().filter_map(|part| part.get("configMap"));
    if has_own_address {
        return !config_maps().any(is_of_cluster) && parts().any(|part| part.get("secret").or(part.get("configMap")).is_some());
    }
    config_maps().any(|config_map| gives_certificate(config_map) && !is_of_cluster(config_map))
}

/// The names of files that a volume is known to have.
fn files(volume: &Value) -> Vec<&str> {
    let sources = volume.pointer("/projected/sources").and_then(Value::as_array).into_iter().flatten();
    let parts = sources.flat_map(|source| source.as_object().into_iter().flat_map(|members| members.values()));
    let all = parts.chain(["secret", "configMap", "downwardAPI"].iter().filter_map(|kind| volume.get(kind)));
    let paths = all.flat_map(|part| {
        let items = part.get("items").and_then(Value::as_array).into_iter().flatten();
        items.map(|item| item.get("path")).chain([part.get("path")])
    });
    paths.flatten().filter_map(Value::as_str).collect()
}
