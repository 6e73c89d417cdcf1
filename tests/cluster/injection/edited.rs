//! Manifests that are edited after the injection: what people and programs do with them is kept, and what was injected goes.

use std::fs;

use observer_tests::objects_as_kubectl_reads_them;

use super::invocation::{IMAGE, REFUSED, Run, inject, inject_text, run, uninject};

const MANIFEST: &str = "\
# The app.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: the-app
spec:
  template:
    metadata:
      labels: {app: the-app}
    spec:
      containers:
      - name: main
        image: a
        env:
        - name: FIRST
          value: one
        volumeMounts:
        - {name: data, mountPath: /data}
      - name: other
        image: a
      volumes:
      - name: data
        emptyDir: {}
";

/// Edits that have nothing to do with the sidecar.
const EDITS: &[(&str, &str)] = &[
    ("        image: a\n", "        image: b # newer\n"),
    ("          value: one\n", "          value: one\n        - name: SECOND\n          value: two\n"),
    ("        - name: FIRST\n          value: one\n", "        - name: FIRST\n          value: changed\n"),
    ("mountPath: /data}\n", "mountPath: /data}\n        - {name: data, mountPath: /more}\n"),
    ("      labels: {app: the-app}\n", "      labels: {app: the-app, tier: web}\n"),
    ("        emptyDir: {}\n", "        emptyDir: {}\n      - name: more\n        emptyDir: {}\n"),
    ("# The app.\n", ""),
    ("  template:\n", "  replicas: 3\n  template:\n"),
];

#[test]
fn edits_after_the_injection_stay_when_it_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let injected = inject_text(folder.path(), "app.yaml", MANIFEST).stdout;
    for (number, (from, to)) in EDITS.iter().enumerate() {
        let file = folder.path().join(format!("edited-{number}.yaml"));
        assert!(injected.contains(from), "{from:?} is not in {injected}");
        fs::write(&file, injected.replacen(from, to, 1)).unwrap();
        let back = uninject(&file);
        assert_eq!(back.stdout, MANIFEST.replacen(from, to, 1), "{from:?}: {}", back.stderr);
        // The edit is not taken for one of the sidecar.
        assert_eq!(inject(&file).code, Some(0), "{from:?}");
    }
}

#[test]
fn edits_of_the_sidecar_are_refused_rather_than_lost() {
    let folder = tempfile::tempdir().unwrap();
    let injected = inject_text(folder.path(), "app.yaml", MANIFEST).stdout;
    for (from, to) in [
        (IMAGE, "localhost/watchtap:2"),
        ("memory: 128Mi", "memory: 256Mi"),
        ("\"127.0.0.1\"", "10.0.0.1"),
        ("watchtap-trust", "other"),
    ] {
        let file = folder.path().join("edited.yaml");
        let edited = injected.replacen(from, to, 1);
        assert_ne!(edited, injected, "{from}");
        fs::write(&file, &edited).unwrap();
        for run in [uninject(&file), inject(&file)] {
            assert_eq!((run.code, &run.stdout), (Some(REFUSED), &edited), "{from}: {}", run.stderr);
            assert!(run.stderr.contains("the-app"), "{}", run.stderr);
        }
    }
}

/// An annotation that was not written by `inject`: never a panic, never another text than the input.
#[test]
fn forged_annotations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let injected = inject_text(folder.path(), "app.yaml", MANIFEST).stdout;
    let line = injected.lines().find(|line| line.contains("watchtap.dev/injected")).unwrap();
    let (key, _) = line.split_once(": ").unwrap();
    let forged = [
        "''",
        "'{}'",
        "'{\"watchtap\":\"9\",\"added\":[]}'",
        "'{\"watchtap\":\"9\",\"added\":[{\"to\":\"/metadata/annotations\"}]}'",
        "'[]'",
        "'null'",
        "5",
        "true",
        "[a]",
        "{a: b}",
        "'{\"watchtap\":\"0.1.0\",\"added\":[{\"to\":\"/spec/containers\",\"created\":1,\"items\":{\"main\":\"00000000\"}}]}'",
        "'{\"watchtap\":\"0.1.0\",\"added\":[{\"to\":\"/../../etc\",\"created\":99999999999999999999}]}'",
        "'{\"watchtap\":\"0.1.0\",\"added\":[{\"to\":\"\",\"created\":1}]}'",
        "'{\"watchtap\":\"\\u001b[31m\",\"added\":[{\"to\":\"/spec\",\"items\":{\"\\u001b[2J\":\"x\"}}]}'",
    ];
    for value in forged {
        let text = injected.replacen(line, &format!("{key}: {value}"), 1);
        let file = folder.path().join("forged.yaml");
        fs::write(&file, &text).unwrap();
        for run in [uninject(&file), inject(&file)] {
            assert_eq!((run.code, &run.stdout), (Some(REFUSED), &text), "{value}: {}", run.stderr);
            assert!(run.stderr.contains("the-app") && !run.stderr.contains('\u{1b}'), "{value}: {}", run.stderr);
        }
    }
}

/// Another program lays the manifest out again; the objects are what counts then.
#[test]
fn reformatted_manifest_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["app.yaml", "injected.yaml", "reformatted.json", "back.json"].map(|name| folder.path().join(name));
    let injected = inject_text(folder.path(), "app.yaml", MANIFEST).stdout;
    fs::write(&files[1], injected).unwrap();
    let objects = |file: usize| objects_as_kubectl_reads_them(&files[file..=file]).unwrap().remove(0).unwrap().remove(0);
    fs::write(&files[2], objects(1).to_string()).unwrap();
    let back = uninject(&files[2]);
    assert_eq!(back.code, Some(0), "{}", back.stderr);
    fs::write(&files[3], back.stdout).unwrap();
    assert_eq!(objects(3), objects(0));
}

#[test]
fn folders_and_files_are_changed_in_place_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let nested = folder.path().join("more");
    fs::create_dir(&nested).unwrap();
    let other = "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"c\"}}";
    let files = [folder.path().join("app.yaml"), folder.path().join("map.json"), folder.path().join("notes.txt")];
    let texts = [MANIFEST, other, "kind: Pod\n"];
    files.iter().zip(texts).for_each(|(file, text)| fs::write(file, text).unwrap());
    let read = || files.each_ref().map(|file| fs::read_to_string(file).unwrap());
    let checked = run(&["inject", "--image", IMAGE, "--assume-token", "--check"], folder.path());
    assert_eq!((checked.code, checked.stdout.as_str(), read()), (Some(0), "", texts.map(str::to_owned)));
    let silent = |run: Run| assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    silent(run(&["inject", "--image", IMAGE, "--assume-token", "--in-place"], folder.path()));
    let [app, map, notes] = read();
    assert!(app != MANIFEST && map == other && notes == texts[2]);
    silent(run(&["uninject", "--in-place"], folder.path()));
    assert_eq!(read(), texts.map(str::to_owned));
}
