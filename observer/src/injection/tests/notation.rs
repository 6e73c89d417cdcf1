//! Notations of YAML and JSON: what is edited keeps its style, and all other bytes stay.

use super::check::{deployment, inject, injected, options, refusal};
use crate::injection::{Manifest, Outcome, Referenced};

#[test]
fn style_of_indentation_is_kept() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n    name: web\nspec:\n    template:\n        spec:\n            containers:\n                - name: app\n                  image: a\n";
    let after = injected(text);
    assert!(after.contains("\n                  env:\n                      - {name: KUBERNETES_SERVICE_HOST"), "{after}");
    assert!(after.contains("\n            volumes:\n                - {name: watchtap-own"), "{after}");
}

#[test]
fn comments_stay_with_their_lines() {
    let text = deployment(
        "# before\ninitContainers:   # head\n# of the item\n- name: first   # here\n  image: a\n  # between\ncontainers:\n- name: app\n  image: a   # trailing\n\n# after\n",
    );
    let after = injected(&text);
    assert!(after.contains("initContainers:   # head\n      - name: watchtap\n"), "{after}");
    assert!(after.contains("      # of the item\n      - name: first   # here\n        image: a\n        env:\n"), "{after}");
    assert!(after.contains("image: a   # trailing\n        env:\n"), "{after}");
}

#[test]
fn empty_values_are_filled_and_come_back() {
    for empty in ["", " null", " ~", " []", " [ ]", " [\n        ]", "   []", " []   # none", "   # none"] {
        let text = deployment(&format!(
            "containers:\n- name: app\n  image: a\n  env:{empty}\n  volumeMounts:{empty}\nvolumes:{empty}\ninitContainers:{empty}\n"
        ));
        injected(&text);
    }
    for metadata in ["", " {}", " null", " {}  # none", "\n      annotations:", "\n      annotations: {}"] {
        injected(&deployment("containers:\n- {name: app, image: a}\n").replace("\n      labels: {app: web}", metadata));
    }
}

#[test]
fn comment_within_an_empty_value_is_refused() {
    for empty in [" # c\n    []", " [ # c\n    ]"] {
        for key in ["env", "volumeMounts"] {
            let said = refusal(&deployment(&format!("containers:\n- name: app\n  image: a\n  {key}:{empty}\n")), &options());
            assert_eq!(said, "line 13: a comment is within an empty value; move the comment to the line above");
        }
        refusal(&deployment(&format!("containers:\n- name: app\n  image: a\nvolumes:{empty}\n")), &options());
    }
}

#[test]
fn dash_may_be_in_a_line_of_its_own() {
    for dash in ["-\n", "- # why\n", "-\n\n# why\n", "- &a\n", "- &a- # why\n"] {
        for indentation in ["", "  ", "    "] {
            let list =
                |key: &str, members: &str| format!("{key}:\n{indentation}{}", dash.to_owned() + indentation + "  " + members);
            let member = |list: String| list.replace('\n', "\n  ");
            let env = member(list("env", "name: A"));
            let mounts = member(list("volumeMounts", "{name: data, mountPath: /data}"));
            let volumes = list("volumes", "name: data");
            let init = list("initContainers", "{name: first, image: a}");
            injected(&deployment(&format!("containers:\n- name: app\n  image: a\n  {env}\n  {mounts}\n{volumes}\n{init}\n")));
        }
    }
}

#[test]
fn line_breaks_of_windows_stay() {
    let text = deployment("containers:\n- name: app\n  image: a\n").replace('\n', "\r\n");
    let after = injected(&text);
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}

#[test]
fn line_breaks_of_the_old_mac_are_refused() {
    let text = deployment("containers:\n- name: app\n  image: a\n").replace('\n', "\r");
    assert_eq!(refusal(&text, &options()), "line 1: the line breaks are carriage returns alone; convert them to line feeds");
}

#[test]
fn characters_beyond_ascii_and_a_byte_order_mark_do_not_move_edits() {
    injected(&format!("\u{FEFF}# äöü 日本\n{}", deployment("containers:\n- name: app\n  image: \"ä\" # 日本 🙂\n  args: ['é']\n")));
}

#[test]
fn document_may_end_without_a_line_break() {
    let ends = [
        "image: a",
        "args: [a]",
        "args:\n  - a",
        "env: []",
        "env:",
        "image: 'a\n    b'",
        "args:\n  - |-\n    a",
        "args:\n  - |\n    a",
        "args:\n  - >\n    a\n    b",
        "args:\n  - |+\n    a\n",
    ];
    for end in ends {
        let image = if end.starts_with("image") { "" } else { "image: a\n  " };
        let text = deployment(&format!("containers:\n- name: app\n  {image}{end}"));
        injected(&text);
        injected(text.trim_end_matches('\n'));
    }
}

#[test]
fn block_scalar_keeps_its_lines() {
    for scalar in [
        "|\n    a\n\n",
        "|+\n    a\n\n\n",
        "|-\n    a\n\n\n",
        ">\n    a\n    # no comment\n   # a comment\n",
        "|2\n     a\n",
        "|\n    a\n\n# c\n",
    ] {
        injected(&deployment(&format!("containers:\n- name: app\n  image: a\n  args:\n  - {scalar}")));
        injected(&deployment(&format!("containers:\n- args:\n  - {scalar}  name: app\n  image: a\n")));
    }
}

#[test]
fn json_keeps_its_form() {
    let compact = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"app","image":"a","env":[]},{"name":"b","image":"a","env":[{"name":"A","value":"1"}]}]}}"#;
    let after = injected(compact);
    assert!(!after.contains('\n') && !after.contains(", ") && serde_json::from_str::<serde_json::Value>(&after).is_ok(), "{after}");
    let value: serde_json::Value = serde_json::from_str(compact).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    let tabs = injected(&pretty.replace("  ", "\t"));
    assert_eq!(tabs.replace('\t', "  "), injected(&pretty), "it is indented as the document is");
    injected(&compact.replace(',', ", ").replace(':', ": "));
}

#[test]
fn flow_style_within_block_style_is_edited_on_its_line() {
    let text =
        deployment("containers: [{name: app, image: a, env: [{name: A, value: b}]}]\nvolumes: [{name: data, emptyDir: {}}]\n");
    let after = injected(&text);
    assert!(after.contains("env: [{name: KUBERNETES_SERVICE_HOST, value: \"127.0.0.1\"}, "), "{after}");
    injected(&deployment("containers:\n- {name: app, image: a, env: [ ], volumeMounts: }\n"));
    injected(&deployment("{containers: [{name: app, image: a}]}\n"));
}

#[test]
fn documents_of_a_stream_are_edited_one_by_one() {
    let one = deployment("containers:\n- name: app\n  image: a\n");
    let text = format!("# licence\n%YAML 1.2\n---\n{one}...\n%YAML 1.1\n--- # second\n{one}---\n\n---\n# nothing\n---\n{one}");
    let after = injected(&text);
    assert_eq!(after.matches("watchtap.dev/injected").count(), 3);
    assert_eq!(inject(&text).objects.iter().map(|object| object.line).collect::<Vec<_>>(), [4, 19, 36]);
}

#[test]
fn json_documents_may_follow_each_other_without_a_separator() {
    let pod = |name: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"containers":[{{"name":"app","image":"a"}}]}}}}"#
        )
    };
    let other = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{} {"}}"#;
    for between in ["\n", "", " ", "\r\n\r\n", "\n---\n"] {
        let text = [pod("a"), other.to_owned(), pod("b")].join(between);
        injected(&text);
        let edited = inject(&text);
        let lines: Vec<usize> = edited.objects.iter().map(|object| object.line).collect();
        assert_eq!((edited.others, lines), (1, vec![1, 1 + 2 * between.matches('\n').count()]), "{between:?}");
    }
    let mut referenced = Referenced::default();
    let error = Manifest::read(&format!("{}\n{}\n{{\"a\":", pod("a"), pod("b")), &mut referenced).unwrap_err();
    assert_eq!(error.line, 3, "{error}");
}

#[test]
fn other_documents_pass_unchanged() {
    for text in [
        "",
        "\n",
        "# comment\n",
        "a: 1\n",
        "- 1\n",
        "text\n",
        "---\n---\n",
        "{}",
        "? [a]\n: b\n",
        "apiVersion: v1\nkind: Secret\ndata: !x {}\n",
    ] {
        let edited = inject(text);
        assert_eq!((edited.text.as_str(), edited.objects.len()), (text, 0));
    }
}

#[test]
fn notations_that_cannot_be_edited_are_refused_with_their_line() {
    for (spec, reason) in [
        (
            "containers:\n- name: app\n  image: a\n  env: &env\n  - {name: A, value: b}\n- name: other\n  image: a\n  env: *env\n",
            "line 14: `env` has an anchor",
        ),
        ("containers:\n- &c\n  name: app\n  image: a\n- <<: *c\n  name: other\n", "line 12: `app` has an anchor"),
        ("containers:\n- name: app\n  image: a\n  env: !list\n  - {name: A, value: b}\n", "line 14: `env` has a tag"),
        (
            "x: &i app\ncontainers:\n- name: *i\n  image: a\n  env: &env []\n- name: other\n  image: a\n  env: *env\n",
            "line 14: `env` has an anchor",
        ),
        ("x: &e\n- {name: A, value: b}\ncontainers:\n- name: app\n  image: a\n  env: *e\n", "line 15: `env` is an alias"),
        (
            "x: &e\n  env: [{name: A, value: b}]\ncontainers:\n- name: app\n  image: a\n  <<: *e\n",
            "line 13: `env` comes from a merge key",
        ),
        ("containers:\n- name: app\n  image: a\n  image: b\n", "line 13: the key `image` occurs twice"),
        (
            "containers:\n- name: app\n  image: a\n  env:\n  - name: HTTP_PROXY\n    value: b\n  - name: NO_PROXY\n    value: >-\n      b\n",
            "line 18: the value at /spec/containers/app/env/NO_PROXY/value has several lines",
        ),
    ] {
        let said = refusal(&deployment(spec), &options());
        assert!(said.starts_with(reason), "{spec}\n{said}");
    }
    let text = "apiVersion: v1\nkind: PodTemplate\nx: &t {spec: {containers: [{name: app, image: a}]}}\ntemplate: *t\n";
    assert!(refusal(text, &options()).starts_with("line 4: the pod is an alias (`*name`)"));
}

#[test]
fn line_of_a_refusal_counts_from_the_start_of_the_file() {
    let text = deployment("containers:\n- name: app\n  image: a\n  image: b\n");
    let edited = inject(&format!("a: 1\n---\n{text}"));
    let Outcome::Refused(refusal) = &edited.objects[0].outcome else { panic!("{:?}", edited.objects) };
    assert_eq!(refusal.reason, "line 15: the key `image` occurs twice");
}

#[test]
fn name_of_a_container_may_be_an_alias() {
    let text = deployment("containers:\n- name: *n\n  image: a\n  env: [{name: A, value: b}]\n")
        .replace("  name: web\n", "  name: &n web\n");
    assert!(injected(&text).contains("--container, web=16443"));
}

#[test]
fn anchors_elsewhere_do_not_matter() {
    injected(&deployment(
        "x: &labels {a: b}\ncontainers:\n- &app\n  name: app\n  image: a\n  labels: *labels\n- name: other\n  image: a\n  <<: *labels\n",
    ));
}
