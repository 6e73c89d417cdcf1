//! `watchtap inject` and `watchtap uninject` as a user runs them.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use observer_tests::{output_within, watchtap};
use serde_json::Value;

const IMAGE: &str = "localhost/watchtap:1";
const LIMIT: Duration = Duration::from_mins(1);
/// A value of a variable, which no report may show.
const SECRET: &str = "s3cr3t-in-a-manifest";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      automountServiceAccountToken: true
      containers:
      - name: app
        image: example.com/app:1   # the app
        env:
        - {name: PASSWORD, value: s3cr3t-in-a-manifest}
";
const REFUSED: &str = "\
apiVersion: v1
kind: Pod
metadata: {name: node-agent}
spec:
  hostNetwork: true
  containers:
  - name: app
    image: example.com/agent:1
    env:
    - {name: PASSWORD, value: s3cr3t-in-a-manifest}
";

#[test]
fn pipe_is_injected_and_uninjected_byte_by_byte() {
    let injected = piped(&["inject", "--image", IMAGE], DEPLOYMENT);
    assert_eq!(injected.status.code(), Some(0), "{}", stderr(&injected));
    assert!(stdout(&injected).contains("image: localhost/watchtap:1"));
    assert_eq!(stderr(&injected), "watchtap: stdin:1: Deployment shop/web: injected: app by port 16443\nwatchtap: 1 injected\n");
    let again = piped(&["inject", "--image", IMAGE, "-"], &stdout(&injected));
    assert_eq!(stdout(&again), stdout(&injected));
    assert_eq!(stderr(&again), "watchtap: stdin:1: Deployment shop/web: up to date: app by port 16443\nwatchtap: 1 up to date\n");
    let checked = piped(&["inject", "--image", "localhost/watchtap:2", "--check"], &stdout(&injected));
    assert_eq!(
        stderr(&checked),
        "watchtap: stdin:1: Deployment shop/web: would be updated: app by port 16443\nwatchtap: 1 would be updated\n"
    );
    let back = piped(&["uninject"], &stdout(&injected));
    assert_eq!((back.status.code(), stdout(&back).as_str()), (Some(0), DEPLOYMENT));
    assert_eq!(stderr(&back), "watchtap: stdin:1: Deployment shop/web: uninjected\nwatchtap: 1 uninjected\n");
}

#[test]
fn flags_change_the_sidecar() {
    let flags = [
        "inject",
        "--image",
        IMAGE,
        "--image-pull-policy",
        "Never",
        "--requests",
        "cpu=50m,memory=64Mi",
        "--limits",
        "memory=256Mi",
        "--limits",
        "cpu=1",
        "--server-version",
        "1.34.2",
    ];
    let injected = piped(&flags, DEPLOYMENT);
    assert_eq!(injected.status.code(), Some(0), "{}", stderr(&injected));
    for part in [
        "imagePullPolicy: Never\n",
        "resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {cpu: \"1\", memory: 256Mi}}\n",
        "--server-version, \"1.34.2\"]\n",
    ] {
        assert!(stdout(&injected).contains(part), "{part}: {}", stdout(&injected));
    }
    for again in [&flags[..], &["inject", "--image", IMAGE]] {
        assert_eq!(stdout(&piped(again, &stdout(&injected))), stdout(&injected), "the earlier flags count again");
    }
    let reset = piped(&["inject", "--image", IMAGE, "--reset-flags"], &stdout(&injected));
    assert_eq!(stdout(&reset), stdout(&piped(&["inject", "--image", IMAGE], DEPLOYMENT)));
    assert!(stderr(&reset).ends_with("watchtap: 1 updated\n"), "{}", stderr(&reset));
    let raised = stdout(&injected).replace("memory: 256Mi", "memory: 512Mi");
    let refused = piped(&["uninject"], &raised);
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("/spec/initContainers/watchtap/resources was changed"), "{}", stderr(&refused));
    assert_eq!(stdout(&piped(&["uninject", "--discard-edits"], &raised)), DEPLOYMENT);
}

#[test]
fn refused_object_passes_unchanged_and_the_exit_code_shows_it() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
    let output = piped(&["inject", "--image", IMAGE], &format!("{REFUSED}---\n{DEPLOYMENT}---\n{service}"));
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).starts_with(REFUSED) && stdout(&output).ends_with(service));
    let said = stderr(&output);
    assert!(said.contains("watchtap: stdin:1: Pod node-agent: refused: hostNetwork: true: "), "{said}");
    assert!(said.contains("; observe it on its node with `watchtap probe`\n"), "{said}");
    assert!(said.ends_with("watchtap: 1 injected, 1 refused; 1 object without a pod unchanged\n"), "{said}");
}

#[test]
fn report_as_json_names_objects_and_no_secrets() {
    let output = piped(&["inject", "--image", IMAGE, "--check", "--format", "json"], &format!("{REFUSED}---\n{DEPLOYMENT}"));
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), ""));
    let report: Value = serde_json::from_str(&stderr(&output)).unwrap();
    assert_eq!(report["schema"], "watchtap.injection/v1");
    assert_eq!(report["objects"][0]["result"], "refused");
    assert_eq!(report["objects"][1]["observed"], serde_json::json!([{"container": "app", "port": 16443}]));
}

#[test]
fn folders_are_read_in_order_and_changed_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("b")).unwrap();
    fs::create_dir_all(path(".git")).unwrap();
    for (name, text) in
        [("b/one.yml", DEPLOYMENT), ("a.yaml", REFUSED), (".git/x.yaml", DEPLOYMENT), ("notes.txt", "{"), ("real", DEPLOYMENT)]
    {
        fs::write(path(name), text).unwrap();
    }
    symlink(path("real"), path("link.yaml")).unwrap();
    fs::set_permissions(path("b/one.yml"), fs::Permissions::from_mode(0o640)).unwrap();
    let output = run(&["inject", "--image", IMAGE, "--in-place"], &[folder.path()]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), ""), "{}", stderr(&output));
    let places: Vec<String> = stderr(&output).lines().filter_map(|line| Some(line.split(':').nth(1)?.trim().to_owned())).collect();
    assert_eq!(places[..3], ["a.yaml", "b/one.yml", "link.yaml"].map(|name| path(name).display().to_string()));
    assert!(fs::read_to_string(path("b/one.yml")).unwrap().contains("watchtap.dev/injected"));
    assert_eq!(fs::metadata(path("b/one.yml")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(path("link.yaml")).unwrap().is_symlink());
    assert!(fs::read_to_string(path("real")).unwrap().contains("watchtap.dev/injected"));
    assert_eq!(fs::read_to_string(path("a.yaml")).unwrap(), REFUSED);
    run(&["uninject", "-i"], &[folder.path()]);
    assert_eq!(fs::read_to_string(path("b/one.yml")).unwrap(), DEPLOYMENT);
}

#[test]
fn nothing_is_written_if_one_file_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("good.yaml"), DEPLOYMENT).unwrap();
    fs::write(path("template.yaml"), "a: 1\nb: {{ .Values.b }}\nc: [\n").unwrap();
    fs::write(path("binary.yaml"), [0xFF, 0xFE]).unwrap();
    for (bad, said) in [
        ("template.yaml", "render it first (helm template); nothing was written"),
        ("binary.yaml", "the file is not UTF-8"),
        ("missing.yaml", "cannot read"),
    ] {
        for flags in [&["inject", "--image", IMAGE][..], &["inject", "--image", IMAGE, "--in-place"]] {
            let output = run(flags, &[&path("good.yaml"), &path(bad)]);
            assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
            assert!(stderr(&output).contains(said), "{}", stderr(&output));
            assert_eq!(fs::read_to_string(path("good.yaml")).unwrap(), DEPLOYMENT);
        }
    }
}

#[test]
fn service_account_in_another_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("a.yaml"), DEPLOYMENT.replace("automountServiceAccountToken: true", "serviceAccountName: quiet")).unwrap();
    let account =
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: quiet, namespace: shop}\nautomountServiceAccountToken: false\n";
    fs::write(path("b.yaml"), account).unwrap();
    let output = run(&["inject", "--image", IMAGE], &[&path("a.yaml"), &path("b.yaml")]);
    assert!(stderr(&output).contains("ServiceAccount shop/quiet sets automountServiceAccountToken: false"), "{}", stderr(&output));
    assert!(stdout(&output).contains("\n---\napiVersion: v1\nkind: ServiceAccount\n"), "files become documents");
}

#[test]
fn names_control_no_terminal_and_unknown_containers_are_reported() {
    let hostile = DEPLOYMENT.replace("name: web,", "name: \"a\\e]0;x\\u202eb\",");
    let output = piped(&["inject", "--image", IMAGE, "--container", "nosuch"], &hostile);
    assert_eq!(output.status.code(), Some(3));
    let said = stderr(&output);
    assert!(
        said.contains("unchanged: it has no such container")
            && said.contains("no pod has a container nosuch, which --container names"),
        "{said}"
    );
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
}

#[test]
fn container_of_a_refused_object_counts_as_found() {
    let flags = ["inject", "--image", IMAGE, "--container", "app", "--container", "nosuch", "--format", "json"];
    let output = piped(&flags, REFUSED);
    assert_eq!(output.status.code(), Some(3));
    let report: Value = serde_json::from_str(&stderr(&output)).expect("stderr is one document");
    assert_eq!(report["objects"][0]["result"], "refused");
    assert_eq!(report["missing_containers"], serde_json::json!(["nosuch"]));
}

#[test]
fn patch_and_unknown_kind_are_reported_and_are_no_failures() {
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n";
    let rollout = DEPLOYMENT.replace("apps/v1", "argoproj.io/v1alpha1").replace("Deployment", "Rollout");
    let text = format!("{rollout}---\n{DEPLOYMENT}---\n{patch}");
    let output = piped(&["inject", "--image", IMAGE], &text);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.starts_with("watchtap: stdin:1: Rollout shop/web: not injected: inject does not know Rollout of argoproj.io"),
        "{said}"
    );
    assert!(
        said.contains("Deployment web: not injected: the object has no pod template, as in a patch; if its base is injected"),
        "{said}"
    );
    assert!(said.ends_with("watchtap: 1 injected, 2 not injected\n"), "{said}");
    let report = piped(&["inject", "--image", IMAGE, "--format", "json"], &text);
    let report: Value = serde_json::from_str(&stderr(&report)).unwrap();
    assert_eq!(report["objects"][0]["result"], "not injected");
    assert!(report["objects"][0]["remedy"].as_str().unwrap().starts_with("if Rollout runs pods"), "{report}");
    assert_eq!(report.get("missing_containers"), None);
}

#[test]
fn wrong_usage_is_an_error() {
    for arguments in [
        &["inject", "--image", "a b"][..],
        &["inject", "--image", IMAGE, "--kubernetes-version", "x"],
        &["inject", "--image", IMAGE, "--check", "--in-place", "a"],
        &["inject", "--image", IMAGE, "--image-pull-policy", "Sometimes"],
        &["inject", "--image", IMAGE, "--limits", "memory"],
        &["inject", "--image", IMAGE, "--requests", "memory=64Mi", "--limits", "memory=32Mi"],
        &["inject", "--image", IMAGE, "--limits", "memory=128m"],
        &["inject", "--image", IMAGE, "--limits", "memory=16Mi"],
        &["inject", "--image", IMAGE, "--server-version", "new"],
        // No image is published that could be the default.
        &["inject"],
    ] {
        assert_eq!(piped(arguments, "").status.code(), Some(2), "{arguments:?}");
    }
    let empty = tempfile::tempdir().unwrap();
    let output = run(&["inject", "--image", IMAGE], &[empty.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("has no *.yaml, *.yml or *.json"), "{}", stderr(&output));
    let output = piped(&["inject", "--image", IMAGE, "--in-place"], DEPLOYMENT);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("stdin has no place to write to"), "{}", stderr(&output));
}

#[track_caller]
fn run(arguments: &[&str], files: &[&Path]) -> Output {
    checked(output_within(watchtap().unwrap().args(arguments).args(files).stdin(Stdio::null()), LIMIT).unwrap())
}

#[track_caller]
fn piped(arguments: &[&str], input: &str) -> Output {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    checked(output_within(watchtap().unwrap().args(arguments).stdin(file), LIMIT).unwrap())
}

#[track_caller]
fn checked(output: Output) -> Output {
    assert!(!stderr(&output).contains(SECRET), "a report shows a value of a manifest");
    output
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
