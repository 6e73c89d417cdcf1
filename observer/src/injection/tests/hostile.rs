//! Input that is made to do harm: it is refused, or passes unchanged, and nothing panics.

use proptest::prelude::*;

use super::check::{deployment, inject, options, uninject};
use crate::injection::{Edits, Manifest, Outcome, Referenced};

#[test]
fn forged_records_are_refused() {
    let with = |record: &str| {
        let text = deployment("containers:\n- name: app\n  image: a\n  env:\n  - {name: SECRET, value: b}\n");
        let record = record.replace('\'', "''");
        text.replace("      labels: {app: web}\n", &format!("      annotations: {{watchtap.dev/injected: '{record}'}}\n"))
    };
    for (record, reason) in [
        ("", "is damaged"),
        ("{}", "is damaged"),
        (r#"{"watchtap":"1","added":[],"more":1}"#, "is damaged"),
        (r#"{"watchtap":"1","added":[{"to":"/spec/containers","items":{"app":"00000000"}}]}"#, "names /spec/containers, which"),
        (
            r#"{"watchtap":"1","added":[{"to":"/spec/containers/app/env","items":{"SECRET":"00000000"}}]}"#,
            "names /spec/containers/app/env/SECRET",
        ),
        (r#"{"watchtap":"1","added":[{"to":"/metadata/annotations","created":3}]}"#, "names /metadata/annotations"),
        (r#"{"watchtap":"1","added":[{"to":"/metadata/annotations","empty":" x: y"}]}"#, "has an original value that is not"),
        (
            r#"{"watchtap":"1","added":[],"replaced":[{"at":"/spec/containers/app/image","was":"b","sum":""}]}"#,
            "names /spec/containers/app/image",
        ),
        (
            r#"{"watchtap":"1","added":[],"replaced":[{"at":"/spec/containers/app/env/NO_PROXY/value","was":"b\n  c: d","sum":""}]}"#,
            "has an original value",
        ),
        (
            r#"{"watchtap":"1","added":[],"replaced":[{"at":"/spec/containers/app/env/NO_PROXY/value","was":"b, c: d","sum":""}]}"#,
            "has an original value",
        ),
        (
            r#"{"watchtap":"1","added":[],"replaced":[{"at":"/spec/containers/app/env/NO_PROXY/value","was":"&a b","sum":""}]}"#,
            "has an original value",
        ),
        (r#"{"watchtap":"1","added":[],"flags":null}"#, "is damaged"),
        (r#"{"watchtap":"1","added":[],"flags":{"image":"evil"}}"#, "is damaged"),
        (r#"{"watchtap":"1","added":[],"flags":{"image_pull_policy":"Sometimes"}}"#, "has a value of --image-pull-policy that"),
        (r#"{"watchtap":"1","added":[],"flags":{"server_version":"--log"}}"#, "has a value of --server-version that"),
        (r#"{"watchtap":"1","added":[],"flags":{"requests":"memory=64Mi,cpu=1"}}"#, "has a value of --requests that"),
        (r#"{"watchtap":"1","added":[],"flags":{"limits":"memory=16Mi"}}"#, "has a value of --limits that"),
        (r#"{"watchtap":"1","added":[],"flags":{"requests":"cpu=1","limits":"cpu=500m"}}"#, "has a value of --requests that"),
        (r#"{"watchtap":"1","added":[],"flags":{"limits":"cpu=1000m"}}"#, "has a value of --limits that"),
        (r#"{"watchtap":"1","added":[],"flags":{"limits":"pods=1"}}"#, "has a value of --limits that"),
        (r#"{"watchtap":"1","added":[],"flags":{"limits":""}}"#, "has a value of --limits that"),
        (r#"{"watchtap":"1","added":[],"flags":{"containers":["app=1"]}}"#, "has a value of --container that"),
        (r#"{"watchtap":"1","added":[],"flags":{"containers":["b","a"]}}"#, "has a value of --container that"),
        (r#"{"watchtap":"1","added":[]}"#, "does not record the sidecar"),
        (r#"{"watchtap":"1","added":[{"to":"/metadata/annotations"}]}"#, "does not record the sidecar"),
        (r#"{"watchtap":"1","added":[{"to":"/spec/initContainers"}]}"#, "does not record the sidecar"),
        (r#"{"watchtap":"1","added":[{"to":"/spec/initContainers","items":{"watchtap":"00000000"}}]}"#, "does not record itself"),
        (
            r#"{"watchtap":"1","added":[{"to":"/spec/initContainers","items":{"watchtap":"00000000"}},{"to":"/metadata/annotations"}]}"#,
            "/spec/initContainers/watchtap was changed",
        ),
    ] {
        let text = with(record);
        for result in [uninject(&text), inject(&text)] {
            let Outcome::Refused(refusal) = &result.objects[0].outcome else { panic!("{record}: {:?}", result.objects) };
            assert!(refusal.reason.contains(reason), "{record}: {}", refusal.reason);
            assert_eq!(result.text, text);
        }
    }
}

#[test]
fn aliases_that_expand_without_bound_are_an_error() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let alias = format!("*a{}", level - 1);
        let line = format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", "));
        bomb.push_str(&line);
    }
    let links: Vec<String> = (1..20_000).map(|level| format!("a{level}: &a{level} [*a{}]\n", level - 1)).collect();
    let chain = format!("a0: &a0 x\n{}", links.concat());
    for text in [bomb.as_str(), chain.as_str(), "a: &a [*a]\n"] {
        let error = Manifest::read(text, &mut Referenced::default()).unwrap_err().to_string();
        assert!(error.starts_with("its aliases expand without end"), "{error}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for text in ["[".repeat(100_000), (0..200).flat_map(|depth| [" ".repeat(depth), "a:\n".to_owned()]).collect()] {
        assert!(Manifest::read(&text, &mut Referenced::default()).is_err());
    }
}

#[test]
fn broken_document_is_an_error_with_its_line() {
    let error = Manifest::read("a: 1\n---\nb: [\n---\nc: 1\n", &mut Referenced::default()).unwrap_err();
    assert!((3..=4).contains(&error.line), "{error:?}");
}

#[test]
fn strange_values_of_a_pod_are_refused_or_kept() {
    for value in ["1", "text", "[1]", "{a: b}", "true", "[{name: 1}]", "[{name: [a]}]", "[[a]]"] {
        for key in ["env", "volumeMounts", "ports", "command", "args", "image", "resources"] {
            let text = deployment(&format!("containers:\n- name: app\n  image: a\n  {key}: {value}\n"));
            let edited = inject(&text);
            assert!(!format!("{:?}", edited.objects).contains("internal error"), "{text}\n{:?}", edited.objects);
            assert_eq!(uninject(&edited.text).text, text);
        }
        for key in ["volumes", "initContainers", "nodeSelector", "os", "securityContext", "hostNetwork"] {
            let text = deployment(&format!("containers:\n- name: app\n  image: a\n{key}: {value}\n"));
            let edited = inject(&text);
            assert!(!format!("{:?}", edited.objects).contains("internal error"), "{text}\n{:?}", edited.objects);
            assert_eq!(uninject(&edited.text).text, text);
        }
    }
}

proptest! {
    #[test]
    fn damaged_manifests_do_no_harm(cut in 0_usize..3000, with in "[\\PC\\n]{0,6}", length in 0_usize..8) {
        let before = deployment("containers:\n- name: app\n  image: a\n  env: []\n  volumeMounts:\n  - {name: t, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}\n");
        let mut text = inject(&before).text;
        let range = cut.min(text.len())..(cut + length).min(text.len());
        if text.is_char_boundary(range.start) && text.is_char_boundary(range.end) {
            text.replace_range(range, &with);
        }
        let mut referenced = Referenced::default();
        if let Ok(manifest) = Manifest::read(&text, &mut referenced) {
            manifest.inject(&options(), &referenced);
            manifest.uninject(Edits::Keep);
            manifest.uninject(Edits::Discard);
        }
    }
}
