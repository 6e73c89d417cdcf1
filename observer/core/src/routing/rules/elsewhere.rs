//! Rules for resources that this API server does not cache: resources of extension servers, and resources without a watch cache.

use super::rule::{ReadsOf, Rule, RuleId, rules};

rules! {
    AGGREGATED_API = "aggregated-api", "§3.1, §9 step 1",
        "kubernetes/kube-aggregator pkg/apiserver/handler_proxy.go, v0.16 to v0.36", Nothing,
        "an extension server serves the group; the API server only proxies the request";
    UNCACHED_RESOURCE = "uncached-resource", "§3.1, §3.2, §9 step 2",
        "kubernetes pkg/kubeapiserver/default_storage_factory_builder.go DefaultWatchCacheSizes, v1.19 to v1.36; pkg/registry/cachesize/cachesize.go, v1.16 to v1.18",
        Objects,
        "the resource has no watch cache (events have none by default), so every read goes to etcd";
}
