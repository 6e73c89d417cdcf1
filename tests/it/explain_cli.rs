//! `watchtap explain` as a user sees it; it needs no cluster and no kubeconfig.

use std::process::{Output, Stdio};
use std::time::Duration;

use expect_test::{Expect, expect};
use observer_tests::{output_within, watchtap};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(30);
const PODS: &str = "GET /api/v1/pods?limit=500";

#[test]
fn list_with_rv_unset_is_read_from_etcd_before_1_31() {
    check(
        &[PODS, "--server-version", "1.30.4"],
        &expect![[r"
            GET /api/v1/pods?limit=500   API server version v1.30.4 (flag); feature gates: defaults assumed

            served from   etcd   rule list-unset-etcd
            why           no resourceVersion: a quorum read from etcd, before 1.31 or without ConsistentListFromCache
            etcd reads    Range /registry/pods/ … /registry/pods0  limit 500 at the current revision
            cheaper       resourceVersion=0 (cache, may be stale) · an informer · API server 1.31 – 1.32 or ≥ 1.33.3 (then from cache, consistent)

            VERSION          SERVED FROM        RULE                       ELSE
            1.16 – 1.30      etcd               list-unset-etcd
            1.31 – 1.32      cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            1.33.0 – 1.33.2  etcd               list-unset-limit-etcd-bug
            1.33.3 – 1.37    cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            each version · feature gates: defaults assumed · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn list_with_rv_unset_is_a_consistent_cache_read_in_1_34() {
    check(
        &[PODS, "--server-version", "1.34.2"],
        &expect![[r"
            GET /api/v1/pods?limit=500   API server version v1.34.2 (flag); feature gates: defaults assumed

            served from   cache, consistent   rule list-unset-consistent
            else          etcd, if the watch cache lags more than 3 s
            why           no resourceVersion: the watch cache answers once it has reached etcd's current revision. This needs Kubernetes 1.31 or later, and an etcd that answers progress requests (3.4.31 or later in 3.4, otherwise 3.5.13 or later)
            etcd reads    Range /registry/pods  limit 1 at the current revision, for the revision only

            VERSION          SERVED FROM        RULE                       ELSE
            1.16 – 1.30      etcd               list-unset-etcd
            1.31 – 1.32      cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            1.33.0 – 1.33.2  etcd               list-unset-limit-etcd-bug
            1.33.3 – 1.37    cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            each version · feature gates: defaults assumed · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn gate_flag_overrides_the_version_default() {
    check(
        &[PODS, "--server-version", "1.31.0", "--gate", "ConsistentListFromCache=false"],
        &expect![[r"
            GET /api/v1/pods?limit=500   API server version v1.31.0 (flag); feature gates: defaults assumed; ConsistentListFromCache=false

            served from   etcd   rule list-unset-no-progress
            why           no resourceVersion: a quorum read from etcd, because ConsistentListFromCache is off, or etcd does not answer progress requests (etcd 3.4.31 or later in 3.4, otherwise 3.5.13 or later, answers them)
            etcd reads    Range /registry/pods/ … /registry/pods0  limit 500 at the current revision
            cheaper       resourceVersion=0 (cache, may be stale) · an informer · API server ≥ 1.34 (then from cache, consistent)

            VERSION      SERVED FROM        RULE                    ELSE
            1.16 – 1.30  etcd               list-unset-etcd
            1.31 – 1.33  etcd               list-unset-no-progress
            1.34 – 1.37  cache, consistent  list-unset-consistent   etcd, if the watch cache lags more than 3 s
            each version · feature gates: defaults assumed · ConsistentListFromCache=false · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn without_a_version_every_version_is_listed() {
    check(
        &[PODS],
        &expect![[r"
            GET /api/v1/pods?limit=500

            VERSION          SERVED FROM        RULE                       ELSE
            1.16 – 1.30      etcd               list-unset-etcd
            1.31 – 1.32      cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            1.33.0 – 1.33.2  etcd               list-unset-limit-etcd-bug
            1.33.3 – 1.37    cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            each version · feature gates: defaults assumed · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn json_output_has_a_schema_and_the_verdict() {
    let output = explain(&[PODS, "--server-version", "1.34.2", "--format", "json"]);
    let explained: Value = serde_json::from_str(&success(&output)).unwrap();
    assert!(explained["schema"].as_str().unwrap().starts_with("watchtap.explain/v1"), "{explained:#}");
    assert_eq!(explained["verdict"]["served_from"], "CacheConsistent", "{explained:#}");
}

#[test]
fn rule_of_a_verdict_can_be_explained() {
    let output = explain(&[PODS, "--server-version", "1.34.2", "--format", "json"]);
    let explained: Value = serde_json::from_str(&success(&output)).unwrap();
    let rule = explained["verdict"]["rule"].as_str().unwrap().to_owned();
    let sentence = success(&explain(&[&rule]));
    assert!(sentence.contains(&rule), "{sentence}");
}

#[test]
fn explain_prints_a_rule_by_its_identifier() {
    check(
        &["list-unset-consistent"],
        &expect![[r"
            list-unset-consistent

            why           no resourceVersion: the watch cache answers once it has reached etcd's current revision. This needs Kubernetes 1.31 or later, and an etcd that answers progress requests (3.4.31 or later in 3.4, otherwise 3.5.13 or later)
            etcd reads    one Range of the resource's prefix without its slash, limit 1, for the current revision only
            upstream      kubernetes/apiserver pkg/storage/cacher/cacher.go GetList, v0.31 and v0.32; delegator.go GetList, v0.33 to v0.37.0-beta.0
        "]],
    );
}

#[test]
fn unknown_rule_fails_with_a_hint() {
    check_failure(
        &["list-unset-consistnt"],
        &expect![[r"
        watchtap: `list-unset-consistnt` is neither a request (METHOD URL) nor the identifier of a rule or a proof; similar: list-unset-etcd, list-unset-consistent, list-unset-consistent-no-fallback, list-unset-consistent-alpha, list-unset-no-progress, list-unset-limit-etcd-bug
    "]],
    );
}

#[test]
fn path_without_a_resource_fails() {
    check_failure(
        &["GET /healthz", "--server-version", "1.34.2"],
        &expect![[r"
        watchtap: `GET /healthz` reads or writes no object; only requests about stored objects can be explained
    "]],
    );
}

#[test]
fn unknown_method_fails() {
    check_failure(
        &["FETCH pods", "--server-version", "1.34.2"],
        &expect![[r"
        watchtap: `FETCH` is not a method of the Kubernetes API; GET, HEAD, POST, PUT, PATCH and DELETE are
    "]],
    );
}

/// A usage error, like that of any other invalid flag.
#[test]
fn invalid_version_is_a_usage_error() {
    let output = explain(&[PODS, "--server-version", "newest"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--server-version") && said.contains("newest"), "{said}");
}

#[track_caller]
fn check(arguments: &[&str], expected: &Expect) {
    expected.assert_eq(&success(&explain(arguments)));
}

/// Checks for exit code 1, an empty standard output, and this message on standard error.
#[track_caller]
fn check_failure(arguments: &[&str], expected: &Expect) {
    let output = explain(arguments);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]), "{output:?}");
    expected.assert_eq(&String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn success(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stderr, b"", "nothing to complain about");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Without files or an environment that it could read.
#[track_caller]
fn explain(arguments: &[&str]) -> Output {
    let mut command = watchtap().unwrap();
    command.arg("explain").args(arguments).env_clear().stdin(Stdio::null());
    output_within(&mut command, LIMIT).unwrap()
}
