//! Rules for gets.

use super::rule::{ReadsOf, Rule, RuleId, rules};

const GET: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go Get, v0.16 to v0.32; delegator.go Get, v0.33 to v0.37.0-beta.0";
const CONNECT: &str = "kubernetes pkg/registry/core/pod/rest/subresources.go and log.go, v1.16 to v1.36";

rules! {
    GET_UNSET_ETCD = "get-unset-etcd", "§2.1", GET, Objects,
        "a get without resourceVersion reads the object's key from etcd once, in every version";
    GET_RV0 = "get-rv0", "§2.1", GET, Nothing,
        "resourceVersion=0: the watch cache returns its object, which may be stale";
    GET_RV = "get-rv", "§2.1", GET, Nothing,
        "a resourceVersion: the watch cache answers once it has reached that revision, or 504 after 3 s";
    GET_NOT_READY_ETCD = "get-not-ready-etcd", "§1.5", GET, Objects,
        "the watch cache is not ready: read from etcd; before 1.31 only with resourceVersion=0";
    GET_NOT_READY_WAITS = "get-not-ready-waits", "§1.5", GET, Nothing,
        "the watch cache is not ready and the get demands a revision: it waits until the cache is ready or the request times out";
    GET_CONNECT_ETCD = "get-connect-etcd", "§2.1", CONNECT, Objects,
        "log, exec, proxy and similar subresources read the object from etcd, then connect to the node or the pod";
}
