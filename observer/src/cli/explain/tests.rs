//! Tests of the forms of the input.

use super::request::Flags;
use super::subject::{Subject, subject};

#[test]
fn every_form_of_a_request_is_read() {
    for (input, expected) in [
        ("GET /api/v1/pods?limit=500", "GET /api/v1/pods?limit=500"),
        ("get /api/v1/pods?limit=500 HTTP/1.1", "GET /api/v1/pods?limit=500"),
        ("/api/v1/pods", "GET /api/v1/pods"),
        ("  /api/v1/pods?labelSelector=app in (a, b)", "GET /api/v1/pods?labelSelector=app in (a, b)"),
        ("https://10.0.0.1:6443/api/v1/pods?watch=1#x", "GET /api/v1/pods?watch=1"),
        ("GET 'https://host/api/v1/pods'", "GET /api/v1/pods"),
        ("kubectl get --raw '/api/v1/pods?limit=500'", "GET /api/v1/pods?limit=500"),
        ("$ kubectl get --raw=/api/v1/pods --context prod -v=8", "GET /api/v1/pods"),
        ("$kubectl --context prod get --raw /api/v1/pods", "GET /api/v1/pods"),
        ("kubectl delete --raw /api/v1/namespaces/d/pods/a", "DELETE /api/v1/namespaces/d/pods/a"),
        ("kubectl get --raw https://host/api/v1/pods", "GET /api/v1/pods"),
        ("LIST pods", "GET /api/v1/pods"),
        ("list pods -A", "GET /api/v1/pods"),
        ("list pods?limit=500 -n kube-system", "GET /api/v1/namespaces/kube-system/pods?limit=500"),
        ("WATCH deployments.apps", "GET /apis/apps/v1/deployments?watch=true"),
        ("watch /api/v1/pods?resourceVersion=0", "GET /api/v1/pods?resourceVersion=0&watch=true"),
        ("watch /api/v1/pods?watch=1", "GET /api/v1/pods?watch=1"),
        ("watch pods web-0 --namespace=d", "GET /api/v1/namespaces/d/pods?fieldSelector=metadata.name%3Dweb-0&watch=true"),
        ("get pods", "GET /api/v1/pods"),
        ("GET pods/web-0 -n d", "GET /api/v1/namespaces/d/pods/web-0"),
        ("get nodes n1", "GET /api/v1/nodes/n1"),
        ("create pods -n d", "POST /api/v1/namespaces/d/pods"),
        ("update leases kubelet -n d", "PUT /apis/coordination.k8s.io/v1/namespaces/d/leases/kubelet"),
        ("patch pods web-0 -n d", "PATCH /api/v1/namespaces/d/pods/web-0"),
        ("deletecollection pods -n d", "DELETE /api/v1/namespaces/d/pods"),
    ] {
        assert_eq!(asked(&[input], Flags::default()), expected, "{input}");
    }
}

#[test]
fn several_words_are_one_request() {
    let none = Flags::default;
    let raw = || Flags { raw: Some("/api/v1/pods?limit=500".to_owned()), ..none() };
    let namespace = || Flags { namespace: Some("d".to_owned()), ..none() };
    for (words, flags, expected) in [
        (&["GET", "/api/v1/pods?limit=500"][..], none(), "GET /api/v1/pods?limit=500"),
        (&["kubectl", "get"], raw(), "GET /api/v1/pods?limit=500"),
        (&["get"], raw(), "GET /api/v1/pods?limit=500"),
        (&["$", "kubectl", "get"], raw(), "GET /api/v1/pods?limit=500"),
        (&["LIST", "pods"], namespace(), "GET /api/v1/namespaces/d/pods"),
        (&["LIST pods"], namespace(), "GET /api/v1/namespaces/d/pods"),
        (&["list", "pods"], Flags { all_namespaces: true, ..none() }, "GET /api/v1/pods"),
    ] {
        assert_eq!(asked(words, flags), expected, "{words:?}");
    }
}

#[test]
fn wrong_inputs_name_their_place() {
    for (input, expected) in [
        ("FETCH pods", "`FETCH` is not a method or verb of the Kubernetes API; did you mean `PATCH` or `WATCH`?"),
        ("lst pods", "`lst` is not a method or verb of the Kubernetes API; did you mean `LIST`?"),
        ("deaf watch", "`deaf` is not a method or verb of the Kubernetes API; did you mean `deaf-watch`?"),
        ("GET", "`GET` needs a resource or a path, as in `GET pods` or `GET /api/v1/pods`"),
        ("list -A", "`list` needs a resource or a path, as in `list pods` or `list /api/v1/pods`"),
        ("pods", "`pods` is a resource without a verb; did you mean `LIST pods`?"),
        ("pods -A", "`pods` is a resource without a verb; did you mean `LIST pods`?"),
        (
            "LIST pod",
            "`pod` is no built-in resource of version v1, so it needs its path (`GET /apis/GROUP/VERSION/RESOURCE`); did you mean `pods`?",
        ),
        (
            "LIST widgets.example.com",
            "`widgets.example.com` is no built-in resource of version v1, so it needs its path (`GET /apis/example.com/VERSION/widgets`)",
        ),
        ("LIST pods web-0 web-1", "`web-1` is one word too many after `pods`"),
        ("LIST nodes -n d", "`nodes` is cluster-scoped: omit -n and -A"),
        ("LIST pods -n d -A", "-n and -A exclude each other"),
        ("LIST pods -l a=b", "`-l` is not accepted; -n and -A are"),
        ("GET pods web-0", "`get` of `pods` needs a namespace: add -n NAMESPACE"),
        ("delete pods -n d", "`delete pods` needs the name of an object, as in `delete pods NAME`"),
        ("create pods web-0 -n d", "`create pods` takes no name, but `web-0` follows"),
        ("GET pods a%2Fb -n d", "`a%2Fb` is not the name of an object: use letters, digits, `-`, `.`, `_` and `:`"),
        (
            "GET /api/v1/pods -A",
            "-n and -A belong to a verb and a resource, as in `LIST pods -n default`; a path has its namespace in it",
        ),
        (
            "kubectl get pods -A",
            "this `kubectl` command has no `--raw PATH`, so its requests are unknown here; `watchtap exec -- kubectl …` reports them; \
             did you mean `LIST pods`?",
        ),
        ("kubectl apply --raw /api/v1/pods", "`kubectl` has no `--raw` for `apply`; did you mean `kubectl get --raw PATH`?"),
        (
            "kubectl get --raw api/v1/pods",
            "`api/v1/pods` is no path: a path begins with /api/ or /apis/; did you mean `/api/v1/pods`?",
        ),
        (
            "api/v1/pods?limit=1",
            "`api/v1/pods` is neither a request nor the name of a rule, a proof, a cause of relists or a finding; did you mean `/api/v1/pods`?",
        ),
        (
            "expird",
            "`expird` is neither a request nor the name of a rule, a proof, a cause of relists or a finding; did you mean `expired`?",
        ),
        (
            "deaf-wach:prog:pods/d",
            "`deaf-wach:prog:pods/d` is neither a request nor the name of a rule, a proof, a cause of relists or a finding; did you mean `deaf-watch`?",
        ),
        ("$", "the input has no word"),
    ] {
        assert_eq!(refusal(input).lines().next(), Some(expected), "{input}");
    }
}

#[test]
fn wrong_inputs_show_no_credential() {
    for input in [
        "FETCH https://u:c4n4ry@host/api/v1/pods?token=c4n4ry",
        "https//u:c4n4ry@host/api/v1/pods",
        "GET host/api/v1/pods?token=c4n4ry",
        "LIST pods --token=c4n4ry",
        "LIST pods?token=c4n4ry a b",
        "kubectl get pods --token=c4n4ry",
        "Authorization: Bearer c4n4ry",
    ] {
        let refusal = refusal(input);
        assert!(!refusal.contains("c4n4ry"), "{refusal}");
    }
}

#[test]
fn names_are_read_in_any_case() {
    assert!(matches!(subject(&words(&["LIST-UNSET-ETCD"]), Flags::default()), Ok(Subject::Rule(_))));
    assert!(matches!(subject(&words(&["more-than-the-limit"]), Flags::default()), Ok(Subject::Proof(_))));
    for name in ["expired", "Expired/no-bookmarks", "watch-error/500", "deaf-watch", "Deaf-Watch:Prog/v1:pods/all-namespaces"] {
        assert!(matches!(subject(&words(&[name]), Flags::default()), Ok(Subject::Meaning(_))), "{name}");
    }
}

/// The request that is explained, as it is shown.
#[track_caller]
fn asked(input: &[&str], flags: Flags) -> String {
    match subject(&words(input), flags) {
        Ok(Subject::Request(asked)) => asked.shown(),
        Ok(_) => panic!("{input:?} is a name"),
        Err(error) => panic!("{input:?}: {error}"),
    }
}

#[track_caller]
fn refusal(input: &str) -> String {
    match subject(&words(&[input]), Flags::default()) {
        Ok(_) => panic!("{input} is accepted"),
        Err(error) => error.to_string(),
    }
}

fn words(input: &[&str]) -> Vec<String> {
    input.iter().map(|word| (*word).to_owned()).collect()
}
