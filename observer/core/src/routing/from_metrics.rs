//! Reads facts about a server from a page of its `/metrics` (§5.2 of docs/semantics.md).

use std::collections::{BTreeMap, BTreeSet};

use super::etcd_support::EtcdSupport;
use super::gates::Gate;
use super::profile::{Basis, ServerProfile};
use super::version::ServerVersion;
use crate::metrics::Sample;

/// Maximum number of resources that are kept from one kind of sample; a large cluster has a few hundred.
const MAX_RESOURCES: usize = 4096;

/// Facts about a server's configuration, gathered from the samples of one page.
///
/// Upstream: kubernetes/component-base `metrics/prometheus/feature/metrics.go`, v0.26 and later (`kubernetes_feature_enabled`);
/// kubernetes/apiserver `pkg/storage/cacher/metrics/metrics.go` (`watch_cache_capacity`, v0.21 and later, with Go types in place of
/// names of resources up to v0.25; `apiserver_watch_cache_consistent_read_total`, v0.31 and later) and
/// `pkg/storage/etcd3/metrics/metrics.go` (`apiserver_storage_objects`, v0.21 to v0.36; `apiserver_resource_objects`, v0.34 and
/// later).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FromMetrics {
    gates: BTreeMap<Gate, bool>,
    /// Whether a cache answered a consistent read. This proves that etcd answers progress requests.
    read_consistently: bool,
    stored: BTreeSet<String>,
    cached: BTreeSet<String>,
    /// Whether the caches were named after Go types, which do not identify resources.
    caches_by_type: bool,
    /// The version of the server that wrote the page.
    built: Option<ServerVersion>,
}

impl FromMetrics {
    /// Takes one sample of the page. Most samples have no effect.
    pub fn note(&mut self, sample: &Sample<'_>) {
        let label = |name| sample.label(name).unwrap_or_default();
        match sample.name {
            "kubernetes_feature_enabled" => {
                if let Ok(gate) = label("name").parse() {
                    self.gates.insert(gate, sample.value > 0.0);
                }
            }
            "apiserver_watch_cache_consistent_read_total" => {
                self.read_consistently |= sample.value > 0.0 && label("success") == "true" && label("fallback") == "false";
            }
            "apiserver_storage_objects" | "apiserver_resource_objects" => insert(&mut self.stored, sample),
            "watch_cache_capacity" if label("resource").starts_with('*') => self.caches_by_type = true,
            "watch_cache_capacity" => insert(&mut self.cached, sample),
            "kubernetes_build_info" => self.built = label("git_version").parse().ok(),
            _ => {}
        }
    }

    /// Adds the facts to `profile`. Facts that are not on the page stay unchanged. If a server of another version wrote the page,
    /// several servers share one address, and nothing changes.
    pub fn add_to(self, profile: &mut ServerProfile) {
        if self.built.is_some() && self.built != profile.version {
            return;
        }
        if !self.gates.is_empty() {
            // A server also reports its locked gates, which cannot have been set.
            let release = profile.version.as_ref().map(ServerVersion::release);
            let can_be_set = |gate: Gate| release.is_none_or(|release| gate.state(release).stage.is_settable());
            profile.gates.extend(self.gates.into_iter().filter(|(gate, _)| can_be_set(*gate)));
            profile.provenance.gates = Basis::Metrics;
        }
        if self.read_consistently && profile.etcd == EtcdSupport::AssumedSound {
            profile.provenance.etcd = Basis::Metrics;
        }
        if self.stored.is_empty() || self.caches_by_type {
            return;
        }
        profile.provenance.watch_cache = Basis::Metrics;
        if self.cached.is_empty() {
            profile.watch_cache = false;
        } else {
            profile.uncached.extend(self.stored.difference(&self.cached).filter(|resource| !is_event(resource)).cloned());
        }
    }
}

/// Inserts the resource of a sample, such as `pods` or `deployments.apps`. The group is part of the label `resource` up to 1.33.
/// From 1.34 on, it is a label of its own.
fn insert(resources: &mut BTreeSet<String>, sample: &Sample<'_>) {
    let resource = sample.label("resource").unwrap_or_default();
    let group = sample.label("group").unwrap_or_default();
    if !resource.is_empty() && resources.len() < MAX_RESOURCES {
        resources.insert(if group.is_empty() { resource.into_owned() } else { format!("{resource}.{group}") });
    }
}

/// Whether `resource` is `events`. Events have no watch cache by default, so a profile does not list them as uncached.
fn is_event(resource: &str) -> bool {
    matches!(resource, "events" | "events.events.k8s.io")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::MetricsReader;

    const OLD: &str = r#"
kubernetes_feature_enabled{name="ConsistentListFromCache",stage="BETA"} 0
kubernetes_feature_enabled{name="SomethingElse",stage=""} 1
apiserver_watch_cache_consistent_read_total{fallback="true",resource="/pods",success="true"} 7
apiserver_storage_objects{resource="pods"} 3
apiserver_storage_objects{resource="deployments.apps"} 3
apiserver_storage_objects{resource="events"} 3
watch_cache_capacity{resource="pods"} 100
"#;

    const NEW: &str = r#"
kubernetes_feature_enabled{name="WatchList",stage="BETA"} 1
apiserver_watch_cache_consistent_read_total{fallback="false",group="",resource="pods",success="true"} 1
apiserver_resource_objects{group="",resource="pods"} 3
apiserver_resource_objects{group="apps",resource="deployments"} 3
watch_cache_capacity{group="",resource="pods"} 100
watch_cache_capacity{group="apps",resource="deployments"} 100
"#;

    #[test]
    fn gates_and_caches_are_learned_from_labels_of_any_version() {
        assert_eq!(
            learned("1.31.4", OLD),
            "version v1.31.4 (/version); feature gates known (/metrics); ConsistentListFromCache=false; \
             deployments.apps without watch cache (/metrics)"
        );
        assert_eq!(learned("1.34.4", NEW), "version v1.34.4 (/version); feature gates known (/metrics)");
    }

    #[test]
    fn missing_cache_metrics_show_a_server_without_watch_cache() {
        let page = r#"apiserver_storage_objects{resource="pods"} 3"#;
        assert!(learned("1.31.4", page).ends_with("no watch cache (/metrics)"), "{}", learned("1.31.4", page));
    }

    #[test]
    fn caches_named_after_go_types_are_ignored() {
        let page = "apiserver_storage_objects{resource=\"pods\"} 3\nwatch_cache_capacity{resource=\"*core.Pod\"} 100";
        assert!(!learned("1.24.4", page).contains("watch cache"), "{}", learned("1.24.4", page));
    }

    #[test]
    fn metrics_of_another_server_version_are_ignored() {
        let page = format!("kubernetes_build_info{{git_version=\"v1.34.4\"}} 1{NEW}");
        assert!(learned("1.33.4", &page).contains("feature gates: defaults assumed"));
        assert!(learned("1.34.4", &page).contains("feature gates known (/metrics)"));
    }

    #[test]
    fn page_without_relevant_metrics_changes_nothing() {
        let expected = "version v1.31.4 (/version); feature gates: defaults assumed";
        assert_eq!(learned("1.31.4", "up 1"), expected);
    }

    fn learned(version: &str, page: &str) -> String {
        let mut found = FromMetrics::default();
        let mut reader = MetricsReader::default();
        reader.push(page.as_bytes(), &mut |sample| found.note(sample));
        reader.finish(&mut |sample| found.note(sample));
        let mut profile = ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint);
        found.add_to(&mut profile);
        profile.assumptions().join("; ")
    }
}
