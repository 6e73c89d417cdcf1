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

            VERSION          SERVED FROM        RULE                       EXCEPTION
            1.16 – 1.30      etcd               list-unset-etcd
            1.31 – 1.32      cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            1.33.0 – 1.33.2  etcd               list-unset-limit-etcd-bug
            1.33.3 – 1.37    cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            assumed for every version: default feature gates · etcd answers progress requests · watch cache ready
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
            exception     etcd, if the watch cache lags more than 3 s
            why           no resourceVersion: the watch cache answers once it has reached etcd's current revision. This needs Kubernetes 1.31 or later, and an etcd that answers progress requests (3.4.31 or later in 3.4, otherwise 3.5.13 or later)
            etcd reads    Range /registry/pods  limit 1, only to get the current revision

            VERSION          SERVED FROM        RULE                       EXCEPTION
            1.16 – 1.30      etcd               list-unset-etcd
            1.31 – 1.32      cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            1.33.0 – 1.33.2  etcd               list-unset-limit-etcd-bug
            1.33.3 – 1.37    cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
            assumed for every version: default feature gates · etcd answers progress requests · watch cache ready
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

            VERSION      SERVED FROM        RULE                    EXCEPTION
            1.16 – 1.30  etcd               list-unset-etcd
            1.31 – 1.33  etcd               list-unset-no-progress
            1.34 – 1.37  cache, consistent  list-unset-consistent   etcd, if the watch cache lags more than 3 s
            assumed for every version: other feature gates at their defaults · ConsistentListFromCache=false · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn without_a_version_every_version_is_listed_with_its_reason() {
    check(
        &[PODS],
        &expect![[r"
            GET /api/v1/pods?limit=500

            VERSION          SERVED FROM        RULE                       EXCEPTION
            1.16 – 1.30      etcd               list-unset-etcd
              no resourceVersion: a quorum read from etcd, before 1.31 or without ConsistentListFromCache
            1.31 – 1.32      cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
              no resourceVersion: the watch cache answers once it has reached etcd's current revision
            1.33.0 – 1.33.2  etcd               list-unset-limit-etcd-bug
              no resourceVersion, with a limit: because of a bug in 1.33.0 to 1.33.2, the API server gets the current revision, then reads the list from etcd at exactly that revision; only a list of one object by name and namespace still comes from the watch cache
            1.33.3 – 1.37    cache, consistent  list-unset-consistent      etcd, if the watch cache lags more than 3 s
              same as 1.31 – 1.32
            assumed for every version: default feature gates · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn json_output_has_a_schema_and_the_verdict() {
    let explained = json(&[PODS, "--server-version", "1.34.2"]);
    assert!(explained["schema"].as_str().unwrap().starts_with("watchtap.explain/v1"), "{explained:#}");
    assert_eq!(explained["verdict"]["served_from"], "CacheConsistent", "{explained:#}");
}

#[test]
fn rule_of_a_verdict_can_be_explained() {
    let explained = json(&[PODS, "--server-version", "1.34.2"]);
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
fn unknown_name_fails_with_the_nearest_one() {
    check_failure(
        &["list-unset-consistnt"],
        &expect![[r"
            watchtap: `list-unset-consistnt` is neither a request nor the name of a rule, a proof, a cause of relists or a finding; did you mean `list-unset-consistent`?
              requests: `GET /api/v1/pods?limit=500`, `/api/v1/pods`, a URL, `kubectl get --raw PATH`, `LIST pods`, `WATCH deployments.apps -n NAMESPACE`
              names in reports: rules, proofs, causes of relists, findings and their IDs
              `watchtap explain --help` has examples
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
            watchtap: `FETCH` is not a method or verb of the Kubernetes API; did you mean `PATCH` or `WATCH`?
              requests: `GET /api/v1/pods?limit=500`, `/api/v1/pods`, a URL, `kubectl get --raw PATH`, `LIST pods`, `WATCH deployments.apps -n NAMESPACE`
              names in reports: rules, proofs, causes of relists, findings and their IDs
              `watchtap explain --help` has examples
        "]],
    );
}

#[test]
fn resource_that_is_not_built_in_needs_its_path() {
    check_failure(
        &["LIST", "widgets.example.com"],
        &expect![[r"
            watchtap: `widgets.example.com` is no built-in resource of version v1, so it needs its path (`GET /apis/example.com/VERSION/widgets`)
              requests: `GET /api/v1/pods?limit=500`, `/api/v1/pods`, a URL, `kubectl get --raw PATH`, `LIST pods`, `WATCH deployments.apps -n NAMESPACE`
              names in reports: rules, proofs, causes of relists, findings and their IDs
              `watchtap explain --help` has examples
        "]],
    );
}

/// All print the same, except the request's parameters that have no effect.
#[test]
fn pasted_forms_are_the_same_request() {
    let expected = success(&explain(&[PODS]));
    for words in [
        &["/api/v1/pods?limit=500"][..],
        &["GET", "/api/v1/pods?limit=500"],
        &["https://user:word@host:6443/api/v1/pods?limit=500"],
        &["kubectl get --raw '/api/v1/pods?limit=500'"],
        &["$ kubectl get --raw \"/api/v1/pods?limit=500\""],
        &["kubectl", "get", "--raw", "/api/v1/pods?limit=500"],
        &["$", "kubectl", "get", "--raw", "/api/v1/pods?limit=500"],
        &["LIST pods?limit=500"],
        &["list", "pods?limit=500", "-A"],
    ] {
        assert_eq!(success(&explain(words)), expected, "{words:?}");
    }
}

#[test]
fn watch_of_a_resource_has_its_path_and_the_reasons() {
    check(
        &["WATCH", "deployments.apps", "-n", "default"],
        &expect![[r"
            GET /apis/apps/v1/namespaces/default/deployments?watch=true

            VERSION           SERVED FROM        RULE                    EXCEPTION
            1.16 – 1.26       cache              watch-unset-cache
              no resourceVersion: as with resourceVersion=0, the watch cache sends its state as ADDED events, then changes
            1.27.0 – 1.27.12  etcd               watch-unset-etcd-bug
              no resourceVersion: because of a bug, 1.27.0 to 1.27.12, 1.28.0 to 1.28.8 and 1.29.0 to 1.29.3 list from etcd and open a separate watch there
            1.27.13 – 1.27.x  cache              watch-unset-cache
              same as 1.16 – 1.26
            1.28.0 – 1.28.8   etcd               watch-unset-etcd-bug
              same as 1.27.0 – 1.27.12
            1.28.9 – 1.28.x   cache              watch-unset-cache
              same as 1.16 – 1.26
            1.29.0 – 1.29.3   etcd               watch-unset-etcd-bug
              same as 1.27.0 – 1.27.12
            1.29.4 – 1.31     cache              watch-unset-cache
              same as 1.16 – 1.26
            1.32              cache, consistent  watch-unset-consistent  an ERROR event 504 in the watch, if the watch cache lags more than 3 s
              no resourceVersion, WatchList on: rewritten to a streaming list; the watch cache sends its state once it has reached etcd's current revision, then changes
            1.33              cache              watch-unset-cache
              same as 1.16 – 1.26
            1.34 – 1.37       cache, consistent  watch-unset-consistent  an ERROR event 504 in the watch, if the watch cache lags more than 3 s
              same as 1.32
            assumed for every version: default feature gates · etcd answers progress requests · watch cache ready
        "]],
    );
}

#[test]
fn parameters_without_effect_are_named() {
    let url = "/api/v1/pods?resourceVersion=0&labelSelector=a&pretty=1&shardSelector=x&resource_version=1&token=abc&xyz";
    check(
        &[url, "--server-version", "1.35.0"],
        &expect![[r"
            GET /api/v1/pods?resourceVersion=0&labelSelector=a&pretty=1&shardSelector=x   API server version v1.35.0 (flag); feature gates: defaults assumed

            served from   cache   rule list-rv0
            why           resourceVersion=0: the watch cache returns its present state, which may be stale; a limit is ignored
            etcd reads    nothing
            ignored       labelSelector (applied after the objects are read; it changes the layer only while the watch cache is not ready)
            ignored       pretty (it changes only the form of the answer)
            ignored       shardSelector (known from 1.36 on)
            ignored       resource_version (unknown to the API server; did you mean resourceVersion?)
            ignored       token (unknown to the API server)
            ignored       1 more (unknown or malformed; names that may be secret are not repeated)

            VERSION      SERVED FROM  RULE      EXCEPTION
            1.16 – 1.37  cache        list-rv0
            assumed for every version: default feature gates · etcd answers progress requests · watch cache ready
        "]],
    );
    let explained = json(&[url]);
    assert_eq!(explained["ignored"][1]["name"], "pretty", "{explained:#}");
    assert_eq!(explained["ignored"][1]["reason"], "it changes only the form of the answer", "{explained:#}");
}

#[test]
fn json_has_the_reason_of_each_version() {
    let explained = json(&[PODS]);
    let first = &explained["versions"][0];
    assert_eq!(
        (&first["versions"], &first["verdict"]["rule"]),
        (&"1.16 – 1.30".into(), &"list-unset-etcd".into()),
        "{explained:#}"
    );
    assert!(first["sentence"].as_str().unwrap().starts_with("no resourceVersion: a quorum read"), "{explained:#}");
    assert!(explained.get("ignored").is_none(), "{explained:#}");
}

#[test]
fn cause_of_relists_is_explained() {
    check(
        &["expired/no-bookmarks"],
        &expect![[r"
            expired/no-bookmarks   cause of relists

            meaning       410 Gone, the resource version of the watch had expired: no bookmark had advanced it, although the client had requested them
            shown as      410 Gone: no bookmarks sent
            evidence      the revision is old (75 s or more), and the watch had requested bookmarks, but none came
            versions      servers until 1.27 if the resource rarely changes, until 1.30 before its first event (docs/semantics.md §2.5)
            change        Update the API server to 1.31 or later. From 1.28 to 1.30, it sends no bookmarks before the first event of a resource.
            docs          docs/semantics.md §6.5
        "]],
    );
    let explained = json(&["watch-error/500"]);
    let cause = &explained["causes"][0];
    assert_eq!(cause["sentence"], "the watch ended with an ERROR event of code 500", "{explained:#}");
    assert_eq!((&cause["id"], &cause["section"]), (&"watch-error/500".into(), &"§6.5".into()), "{explained:#}");
}

#[test]
fn first_part_of_a_cause_stands_for_all_reasons() {
    let explained = json(&["expired"]);
    assert_eq!(explained["causes"].as_array().unwrap().len(), 6, "{explained:#}");
    assert_eq!(success(&explain(&["expired"])).matches("cause of relists\n").count(), 6);
}

#[test]
fn name_of_a_cause_and_of_a_finding_explains_both() {
    check(
        &["refused-misread"],
        &expect![[r"
            refused-misread   cause of relists

            meaning       the API server refused connections, and the client listed instead of resuming its watch (client-go before 1.16)
            shown as      connection refused, listed instead of resuming (client-go < 1.16)
            evidence      the server refused connections; the client asks for no bookmarks and lists with limit and RV=0
            versions      client-go until 1.15
            change        Update client-go to 1.16 or later, which resumes its watch when the API server is back.
            docs          docs/semantics.md §6.5

            refused-misread   finding

            change        Update client-go to 1.16 or later, which resumes its watch when the API server is back.
            mute          --mute 'refused-misread:'
            docs          docs/findings.md#refused-misread

            While an API server restarts, it refuses connections. client-go since 1.16 then resumes its watch.
            Earlier releases treat the refusal as a failed watch, and relist everything.

            Upstream: kubernetes/kubernetes pull request 81634.
        "]],
    );
}

#[test]
fn finding_is_explained_by_its_kind_or_its_identifier() {
    check(
        &["slow-reader"],
        &expect![[r"
            slow-reader   finding

            change        Read the watch in a loop that does nothing else, as client-go's reflectors do, and queue the work; if the entire process pauses, look for CPU limits and garbage collection.
            mute          --mute 'slow-reader:'
            docs          docs/findings.md#slow-reader

            The client does not read what it watches for five seconds or more in all, or the server ended an
            unread watch early. One of three things keeps the server from sending:

            - The flow-control window of the stream is used up: the code that reads this watch does other work
              meanwhile.
            - The flow-control window of the connection is used up.
            - The client's socket accepts nothing more: the entire process is blocked (stopped, out of CPU,
              collecting garbage).

            The API server buffers some events for each watch. If there are too many, it ends the watch, and the
            client may have to relist. A tap sees only that the client did not read, and that the watch ended.
            The log of kube-apiserver, from -v=1 on, also shows that the server closed the watch by force
            (logs.md). From logs, this finding has no times, so its amount is 0.

            A slow handler of a shared informer does not cause this finding: the informer continues to read,
            into a buffer without a bound.

            Upstream: kubernetes/apiserver pkg/storage/cacher/cache_watcher.go, add and forget; RFC 9113 §5.2.
        "]],
    );
    let id = "slow-reader:my-controller/v1:pods/all-namespaces";
    let text = success(&explain(&[id]));
    assert!(text.starts_with(&format!("{id}   finding\n")) && text.contains(&format!("--mute '{id}'")), "{text}");
    let explained = json(&[id]);
    assert_eq!(explained["name"], id, "{explained:#}");
    assert_eq!(explained["finding"]["section"], "docs/findings.md#slow-reader", "{explained:#}");
    assert!(explained["finding"]["text"].as_array().unwrap().len() > 3, "{explained:#}");
    assert!(explained.get("causes").is_none(), "{explained:#}");
}

#[test]
fn shells_complete_the_names() {
    for shell in ["bash", "zsh"] {
        let mut command = watchtap().unwrap();
        command.args(["completions", shell]).env_clear().stdin(Stdio::null());
        let script = success(&output_within(&mut command, LIMIT).unwrap());
        for name in ["list-unset-etcd", "more-than-the-limit", "expired/no-bookmarks", "deaf-watch"] {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}

#[test]
fn help_shows_every_form_of_the_input() {
    let help = success(&explain(&["--help"]));
    for form in
        ["'GET /api", "'/api", "'https://", "kubectl get --raw", "LIST pods", "WATCH deployments.apps -n", "deaf-watch", "expired/"]
    {
        assert!(help.contains(form), "{form}: {help}");
    }
    assert!(!help.contains("possible values: aggregated-api"), "{help}");
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

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let output = explain(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str(&success(&output)).unwrap()
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
