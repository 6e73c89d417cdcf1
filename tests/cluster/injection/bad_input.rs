//! Input that must not be injected, or hardly: the exit code reports it, the text stays as it was, and the message names the
//! object, the reason and a remedy.

use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};

use super::invocation::{IMAGE, REFUSED, UNREADABLE, inject_text, run, uninject};
use super::round_trip::{RoundTrip, round_trips};

/// A run that takes longer is too slow to work with; on an idle machine the largest takes a few seconds in a debug build.
const PATIENCE: Duration = Duration::from_secs(50);

/// A pod with one container, by what is added to its metadata and its spec.
fn pod(metadata: &str, spec: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: the-app\n{metadata}spec:\n{spec}  containers:\n  - name: main\n\
         \x20   image: a\n"
    )
}

/// A Deployment whose containers are these lines.
fn deployment(containers: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: the-app\n  namespace: apps\nspec:\n  template:\n\
         \x20   spec:\n      \
         containers:\n{containers}"
    )
}

/// Refused manifests, each with words that its message must have.
fn refused() -> Vec<(&'static str, String, &'static [&'static str])> {
    let main = "      - name: main\n        image: a\n";
    let image = |image: &str| deployment(&format!("      - name: main\n        image: {image}\n"));
    vec![
        ("own-container", deployment(&format!("{main}      - name: watchtap\n        image: b\n")), &["container", "watchtap"]),
        ("own-init-container", pod("", "  initContainers:\n  - name: watchtap\n    image: b\n"), &["container", "watchtap"]),
        ("own-volume", pod("", "  volumes:\n  - name: watchtap-trust\n    emptyDir: {}\n"), &["volume", "watchtap-trust"]),
        (
            "own-folder",
            deployment(&format!(
                "{main}        volumeMounts:\n        - name: v\n\
                 \x20         mountPath: /var/run/secrets/watchtap/serviceaccount\n      volumes:\n      - name: v\n\
                 \x20       emptyDir: {{}}\n"
            )),
            &["/var/run/secrets/watchtap"],
        ),
        ("host-network", pod("", "  hostNetwork: true\n"), &["hostNetwork"]),
        ("windows", pod("", "  os:\n    name: windows\n"), &["Windows"]),
        ("windows-by-node", pod("", "  nodeSelector:\n    kubernetes.io/os: windows\n"), &["Windows"]),
        ("mirror", pod("  annotations:\n    kubernetes.io/config.mirror: abc\n", ""), &["mirror"]),
        ("kube-system", pod("  namespace: kube-system\n", ""), &["kube-system"]),
        ("multus", image("ghcr.io/k8snetworkplumbingwg/multus-cni:v4.2.1-thick"), &["CNI"]),
        ("cainjector", image("quay.io/jetstack/cert-manager-cainjector:v1.19.1"), &["cainjector"]),
        (
            "cainjector-by-digest",
            image(
                "mirror.example:5000/cert-manager-cainjector@sha256:6927e0919a144aa7616fd0137d4816816d42f6b816de3af269ab065250859a62",
            ),
            &["cainjector"],
        ),
        ("no-token", pod("", "  automountServiceAccountToken: false\n"), &["automountServiceAccountToken"]),
        (
            "no-token-in-the-account",
            format!(
                "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: bare\nautomountServiceAccountToken: false\n---\n{}",
                pod("", "  serviceAccountName: bare\n")
            ),
            &["automountServiceAccountToken"],
        ),
        ("containers-of-one-name", deployment(&format!("{main}{main}")), &["main"]),
        ("container-without-a-name", deployment("      - image: a\n"), &["name"]),
        (
            "no-containers",
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: the-app\nspec:\n  containers: []\n".to_owned(),
            &["containers"],
        ),
        ("key-twice", format!("{}spec:\n  containers: []\n", pod("", "")), &["spec"]),
        ("wrong-api-version", deployment(main).replace("apps/v1", "v1"), &["v1 has no Deployment", "apps/v1"]),
        ("comment-in-an-empty-value", deployment(&format!("{main}        env: # c\n          []\n")), &["comment", "line 12"]),
        (
            "certificate-of-another-cluster",
            deployment(&format!(
                "{main}        env:\n        - name: KUBERNETES_SERVICE_HOST\n          value: api.example.com\n\
                 \x20       volumeMounts:\n        - name: other\n\
                 \x20         mountPath: /var/run/secrets/kubernetes.io/serviceaccount\n\
                 \x20     volumes:\n      - name: other\n        secret:\n          secretName: other\n"
            )),
            &["ca.crt", "main"],
        ),
        (
            "environment-twice",
            deployment(&format!("{main}        env:\n        - name: A\n          value: b\n        env: []\n")),
            &["env"],
        ),
    ]
}

/// Manifests that pass without an injection, each with words that the report must have.
fn passed() -> Vec<(&'static str, String, &'static [&'static str])> {
    let main = "      - name: main\n        image: a\n";
    vec![
        ("patch", deployment("      - name: main\n        resources: {}\n"), &["patch", "kustomize", "main"]),
        ("patch-with-a-directive", deployment(&format!("{main}        $patch: replace\n")), &["$patch", "kustomize"]),
        (
            "unknown-kind",
            deployment(main).replace("apps/v1", "argoproj.io/v1alpha1").replace("Deployment", "Rollout"),
            &["does not know Rollout", "argoproj.io"],
        ),
    ]
}

#[test]
fn refused_objects_stay_as_they_were_and_the_message_has_reason_and_remedy() {
    check(&refused(), REFUSED);
}

#[test]
fn patches_and_unknown_kinds_pass_as_they_were_and_the_report_has_a_remedy() {
    check(&passed(), 0);
}

#[track_caller]
fn check(cases: &[(&'static str, String, &'static [&'static str])], code: i32) {
    let trips = round_trips(cases.iter().map(|(name, text, _)| (format!("{name}.yaml"), text.clone())).collect());
    let mut complaints = Vec::new();
    for ((name, _, words), trip) in cases.iter().zip(&trips) {
        let report = &trip.run.stderr;
        println!("{name}: {report}");
        complaints.extend(trip.complaints().into_iter().map(|complaint| format!("{name}: {complaint}")));
        if trip.is_injected() || trip.run.code != Some(code) {
            complaints.push(format!("{name}: exit code {:?}, injected: {}: {report}", trip.run.code, trip.is_injected()));
        }
        let lowered = report.to_lowercase();
        for word in words.iter().chain(&["the-app"]).filter(|word| !lowered.contains(&word.to_lowercase())) {
            complaints.push(format!("{name}: the message does not name {word}: {report}"));
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Trees that no API server takes, and names that would break out of a line: no panic, no control of the terminal, and either an
/// exact injection or none.
fn hostile() -> Vec<(&'static str, String)> {
    let main = "      - name: main\n        image: a\n";
    let mut cases = vec![
        ("kind-is-a-number", "apiVersion: 1\nkind: 5\nspec: {containers: [{name: a}]}\n".to_owned()),
        ("spec-is-text", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: text\n".to_owned()),
        ("spec-is-missing", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n".to_owned()),
        ("template-is-a-list", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template: []\n".to_owned()),
        ("template-is-null", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n".to_owned()),
        (
            "containers-are-a-mapping",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n    name: a\n".to_owned(),
        ),
        (
            "container-is-null",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  -\n  - name: b\n".to_owned(),
        ),
        ("items-are-text", "apiVersion: v1\nkind: List\nitems: text\n".to_owned()),
        ("items-are-null", "apiVersion: v1\nkind: List\nitems:\n-\n- null\n- 5\n".to_owned()),
        ("metadata-is-a-list", pod("", "").replace("metadata:\n  name: the-app\n", "metadata: []\n")),
        ("annotations-are-text", pod("  annotations: text\n", "")),
        ("annotation-is-a-number", pod("  annotations:\n    watchtap.dev/injected: 5\n", "")),
        ("volumes-are-text", pod("", "  volumes: text\n")),
        ("environment-is-a-mapping", deployment(&format!("{main}        env:\n          A: b\n"))),
        ("mounts-are-numbers", deployment(&format!("{main}        volumeMounts: [1, 2]\n"))),
        ("port-is-text", deployment(&format!("{main}        ports:\n        - containerPort: \"16443\"\n"))),
        ("port-is-huge", deployment(&format!("{main}        ports:\n        - containerPort: 99999999999999999999\n"))),
        ("name-is-a-number", deployment("      - name: 5\n        image: a\n")),
        ("name-is-a-flag", deployment("      - name: \"--metrics\"\n        image: a\n")),
        ("name-of-two-parts", deployment("      - name: main=1\n        image: a\n")),
        ("name-needs-quotes", deployment("      - name: \"a: {b} # c\"\n        image: a\n")),
        ("name-has-lines", deployment("      - name: \"a\\nb\\n      - name: c\"\n        image: a\n")),
        (
            "names-control-the-terminal",
            deployment("      - name: \"\\e[31mred\\e[0m\\u202E\\r\"\n        image: \"\\e]0;title\\a\"\n")
                .replace("the-app", "\"\\e[2Jgone\\nwatchtap: all is well\""),
        ),
        ("name-is-long", deployment(&format!("      - name: {}\n        image: a\n", "n".repeat(10_000)))),
        ("nul", pod("", "").replace("the-app", "\"a\\0b\"")),
        ("tab-as-indentation", pod("", "").replace("  - name", "\t- name")),
        ("unclosed-quote", pod("", "").replace("the-app", "\"the-app")),
        ("unclosed-brace", "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"containers\": [".to_owned()),
        ("unknown-alias", pod("", "").replace("the-app", "*nothing")),
        ("second-document-broken", format!("{}---\na: [1\n---\n{}", pod("", ""), pod("", ""))),
        ("alias-of-itself", "apiVersion: v1\nkind: Pod\nmetadata: &a\n  name: x\n  labels: *a\nspec: {}\n".to_owned()),
        ("deep", format!("a: {}{}\n---\n{}", "[".repeat(20_000), "]".repeat(20_000), pod("", ""))),
        (
            "deep-mapping",
            (0..2_000).fold(String::new(), |mut text, depth| {
                writeln!(text, "{}a:", " ".repeat(depth)).unwrap();
                text
            }),
        ),
    ];
    // Each anchor has the one before ten times.
    let bomb = (1..12).fold("a0: &a0 x\n".to_owned(), |mut text, level| {
        writeln!(text, "a{level}: &a{level} [{}]", vec![format!("*a{}", level - 1); 10].join(", ")).unwrap();
        text
    });
    cases.push(("aliases-that-multiply", format!("{bomb}---\n{}", pod("", ""))));
    cases
}

#[test]
fn hostile_input_is_injected_exactly_or_not_at_all() {
    let cases = hostile();
    let trips = round_trips(cases.iter().map(|(name, text)| (format!("{name}.yaml"), text.clone())).collect());
    let mut complaints = Vec::new();
    for ((name, _), trip) in cases.iter().zip(&trips) {
        println!("{name}: exit code {:?}, injected: {}: {:.500}", trip.run.code, trip.is_injected(), trip.run.stderr);
        complaints.extend(trip.complaints().into_iter().map(|complaint| format!("{name}: {complaint:.2000}")));
        if trip.run.code == Some(0) && trip.run.stdout.is_empty() && !trip.text.is_empty() {
            complaints.push(format!("{name}: the text is gone, although the exit code is 0"));
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Pods that are injected although something in them is in the way.
#[test]
fn what_is_in_the_way_is_avoided() {
    let main = "      - name: main\n        image: a\n";
    let environment = |lines: &str| deployment(&format!("{main}        env:\n{lines}"));
    let cases: Vec<(&str, String)> = vec![
        (
            "first-ports-taken",
            deployment(&format!(
                "{main}        ports:\n        - containerPort: 16443\n        - containerPort: 16444\n\
                 \x20     - name: other\n        image: b\n        ports:\n        - containerPort: 16446\n"
            )),
        ),
        ("metrics-port-taken", deployment(&format!("{main}        ports:\n        - containerPort: 9643\n"))),
        ("proxy", environment("        - name: HTTPS_PROXY\n          value: http://proxy:3128\n")),
        (
            "proxy-with-exceptions",
            environment(
                "        - name: https_proxy\n          value: http://proxy:3128\n        - name: NO_PROXY\n\
                 \x20         value: .svc,10.0.0.0/8\n",
            ),
        ),
        (
            "own-audience",
            deployment(&format!(
                "{main}        volumeMounts:\n        - name: vault\n          mountPath: /var/run/secrets/vault\n\
                 \x20     volumes:\n      - name: vault\n        projected:\n          sources:\n          - serviceAccountToken:\n\
                 \x20             audience: vault\n              path: token\n"
            )),
        ),
        (
            "own-token",
            deployment(&format!(
                "{main}        volumeMounts:\n        - mountPath: /var/run/secrets/kubernetes.io/serviceaccount\n\
                 \x20         name: mine\n          readOnly: true\n      automountServiceAccountToken: false\n      volumes:\n\
                 \x20     - name: mine\n        projected:\n          sources:\n          - serviceAccountToken:\n\
                 \x20             expirationSeconds: 600\n              path: token\n"
            )),
        ),
        (
            "guaranteed",
            deployment(&format!("{main}        resources:\n          limits:\n            cpu: 100m\n            memory: 64Mi\n")),
        ),
        (
            "guaranteed-without-a-zero",
            deployment(&format!("{main}        resources:\n          limits:\n            cpu: \".5\"\n            memory: 1e8\n")),
        ),
        ("resources-of-the-pod", pod("", "  resources:\n    requests:\n      cpu: 5m\n")),
        (
            "dashes-in-lines-of-their-own",
            environment("        -\n          name: A\n          value: b\n        - # why\n          name: B\n"),
        ),
        ("long-command-line", deployment(&format!("{main}        args: [{}]\n", vec!["\"--flag=value\""; 500].join(", ")))),
    ];
    let trips = round_trips(cases.iter().map(|(name, text)| (format!("{name}.yaml"), text.clone())).collect());
    let mut complaints = Vec::new();
    for ((name, _), trip) in cases.iter().zip(&trips) {
        complaints.extend(trip.complaints().into_iter().map(|complaint| format!("{name}: {complaint}")));
        if !trip.is_injected() || trip.run.code != Some(0) {
            complaints.push(format!("{name}: exit code {:?}: {}", trip.run.code, trip.run.stderr));
        }
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// An own address in the environment is either carried over to the sidecar or refused; it never gets lost.
#[test]
fn own_address_of_the_api_server_is_not_lost() {
    let text = deployment(
        "      - name: main\n        image: a\n        env:\n        - name: KUBERNETES_SERVICE_HOST\n\
         \x20         value: api.example.com\n        \
         - name: KUBERNETES_SERVICE_PORT\n          value: \"6443\"\n",
    );
    let [trip] = <[RoundTrip; 1]>::try_from(round_trips(vec![("own-address.yaml".to_owned(), text)])).unwrap();
    println!("{}", trip.run.stderr);
    if trip.is_injected() {
        let pod = &trip.pods()[0].after["spec"];
        let sidecar = pod["initContainers"][0]["env"].to_string();
        assert!(sidecar.contains("api.example.com") && sidecar.contains("6443"), "the sidecar has {sidecar}");
    } else {
        assert_eq!(trip.run.code, Some(REFUSED));
        assert!(trip.run.stderr.contains("KUBERNETES_SERVICE_HOST"), "{}", trip.run.stderr);
    }
    assert!(trip.run.stderr.contains("the-app"));
}

#[test]
fn large_manifests_are_injected_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let config_map = |bytes: usize| {
        let line = "    a line of text: {with} [everything] # that \"YAML\" knows\n";
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n  text: |\n{}---\n",
            line.repeat(bytes / line.len())
        )
    };
    // Most documents of a large manifest have no pod.
    let document = |number: usize| match number % 20 {
        0 => pod("", "").replace("the-app", &format!("app-{number}")),
        _ => format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map-{number}\ndata:\n  key: value\n"),
    };
    let documents: Vec<String> = (0..5_000).map(document).collect();
    let cases = [
        ("1-mb.yaml", config_map(1 << 20) + &pod("", "")),
        ("5000-documents.yaml", documents.join("---\n")),
        ("list.json", list_of_pods(300)),
    ];
    for (name, text) in cases {
        let started = Instant::now();
        let once = inject_text(folder.path(), name, &text);
        let took = started.elapsed();
        assert_eq!(once.code, Some(0), "{:.2000}", once.stderr);
        assert_ne!(once.stdout, text);
        let file = folder.path().join(format!("once-{name}"));
        fs::write(&file, &once.stdout).unwrap();
        let started = Instant::now();
        assert!(uninject(&file).stdout == text, "{name} is not given back");
        println!("{name}, {} bytes: {took:?}, back in {:?}", text.len(), started.elapsed());
        assert!(took < PATIENCE);
    }
}

fn list_of_pods(count: usize) -> String {
    let pod = |number: usize| {
        serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("app-{number}")},
            "spec": {"containers": [{"name": "main", "image": "a"}]}})
    };
    format!("{:#}\n", serde_json::json!({"apiVersion": "v1", "kind": "List", "items": (0..count).map(pod).collect::<Vec<_>>()}))
}

/// Bytes that are no text, and a file that is not there.
#[test]
fn unreadable_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let not_text = folder.path().join("not-text.yaml");
    fs::write(&not_text, b"apiVersion: v1\nkind: Pod\nmetadata: {name: \xff\xfe}\n").unwrap();
    let utf_16 = folder.path().join("utf-16.yaml");
    let wide: Vec<u8> = format!("\u{feff}{}", pod("", "")).encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&utf_16, wide).unwrap();
    for file in [not_text, utf_16, folder.path().join("missing.yaml")] {
        let name = file.file_name().unwrap().to_str().unwrap();
        for command in ["inject", "uninject"] {
            let arguments = if command == "inject" { &[command, "--image", IMAGE][..] } else { &[command] };
            let run = run(arguments, &file);
            assert!(run.code == Some(UNREADABLE), "{command} {name}: {run:?}");
            assert!(run.stdout.is_empty() && run.stderr.contains(name), "{command} {name}: {run:?}");
        }
    }
}
