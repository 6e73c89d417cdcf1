//! Properties over generated manifests.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::check::{inject, injected, injected_with, uninject};
use super::flags_again::all_flags;
use super::other_notation::{value, without_empty};
use crate::injection::Outcome;

/// The parts of a manifest that are written in different ways.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    kind: &'static str,
    step: usize,
    list_offset: usize,
    line_break: &'static str,
    comment: &'static str,
    metadata: &'static str,
    containers: Vec<Vec<&'static str>>,
    init: &'static str,
    volumes: &'static str,
    volumes_first: bool,
    pub(super) end: &'static str,
}

/// Lines of a container. `@` is one step, and `-` begins an item.
const MEMBERS: &[&str] = &[
    "image: example.com/app:1",
    "image: 'a'   # quoted",
    "env:",
    "env: []",
    "env: null  # none",
    "env:\n- name: A\n  value: b",
    "env: [{name: HTTPS_PROXY, value: p}, {name: no_proxy, value: \"a,b\"}]",
    "env:\n# first\n- name: KUBERNETES_SERVICE_HOST\n  value: api.example.com   # ours\n- {name: KUBERNETES_SERVICE_PORT, value: '443'}",
    "volumeMounts:",
    "volumeMounts: [ ]",
    "volumeMounts:\n- name: token\n  mountPath: /var/run/secrets/kubernetes.io/serviceaccount",
    "volumeMounts:\n- {mountPath: \"/var/run/secrets/kubernetes.io/serviceaccount\", name: token}\n- {name: data, mountPath: /data}",
    "args:\n- |\n  set -e\n\n  run",
    "args:\n- >-\n  ä folded\n  # text\n- |+\n  kept\n\n",
    "command: [\"sh\", '-c',\n  run]",
    "resources:\n@limits: {cpu: 1, memory: 1Gi}",
    "# a comment\nports:\n- containerPort: 16443",
    "lifecycle: {}",
];

fn key(member: &str) -> &str {
    let line = member.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    line.split(':').next().unwrap_or_default()
}

pub(super) fn shape() -> impl Strategy<Value = Shape> {
    let members = proptest::sample::subsequence(MEMBERS.to_vec(), 0..6).prop_shuffle();
    let style = (
        select(vec![2_usize, 4, 3]),
        select(vec![0_usize, 2, 4]),
        select(vec!["\n", "\r\n"]),
        select(vec!["", "# note", "# ünïcode 🙂"]),
    );
    let parts = (
        select(vec![
            "",
            "metadata:",
            "metadata: {}",
            "metadata:\n@labels: {a: b}",
            "metadata:\n@annotations:\n@@x: y",
            "metadata:\n@annotations: {x: y}",
            "metadata: {annotations: {x: y}, labels: {}}",
        ]),
        proptest::collection::vec(members, 1..4),
        select(vec![
            "",
            "initContainers: []",
            "initContainers:\n- name: first\n  image: a",
            "initContainers: [{name: first, image: a}]",
        ]),
        select(vec![
            "",
            "volumes:",
            "volumes: []   # none",
            "volumes:\n- name: token\n  emptyDir: {}",
            "volumes: [{name: token, emptyDir: {}}]",
        ]),
        any::<bool>(),
        select(vec!["", "\n", "\n\n", "\n# the end", "\n...\n", "\n---\nkind: Other\n"]),
    );
    let kind = select(vec!["Pod", "Deployment", "CronJob", "List"]);
    (kind, style, parts).prop_map(
        |(kind, (step, list_offset, line_break, comment), (metadata, containers, init, volumes, volumes_first, end))| Shape {
            kind,
            step,
            list_offset,
            line_break,
            comment,
            metadata,
            containers,
            init,
            volumes,
            volumes_first,
            end,
        },
    )
}

impl Shape {
    pub(super) fn text(&self) -> String {
        let mut lines = Vec::new();
        let (head, depth) = match self.kind {
            "Pod" => ("apiVersion: v1\nkind: Pod", 0),
            "Deployment" => ("apiVersion: apps/v1\nkind: Deployment\nspec:\n@template:", 2),
            "CronJob" => ("apiVersion: batch/v1\nkind: CronJob\nspec:\n@jobTemplate:\n@@spec:\n@@@template:", 4),
            _ => ("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod", 0),
        };
        let base = if self.kind == "List" { 2 } else { depth * self.step };
        self.push(head, 0, &mut lines);
        self.push(self.metadata, base, &mut lines);
        self.push("spec:", base, &mut lines);
        let inner = base + self.step;
        if self.volumes_first {
            self.push(self.volumes, inner, &mut lines);
        }
        self.push(self.init, inner, &mut lines);
        self.push("containers:", inner, &mut lines);
        for (place, members) in self.containers.iter().enumerate() {
            let column = inner + self.list_offset;
            lines.push(format!("{}- name: c{place}   {}", " ".repeat(column), self.comment).trim_end().to_owned());
            let mut seen = vec!["image"];
            let image = members.iter().find(|member| key(member) == "image").copied().unwrap_or("image: a");
            self.push(image, column + 2, &mut lines);
            for member in members.iter().filter(|member| !member.contains("KUBERNETES") || self.is_alone()) {
                if !seen.contains(&key(member)) {
                    seen.push(key(member));
                    self.push(member, column + 2, &mut lines);
                }
            }
        }
        if !self.volumes_first {
            self.push(self.volumes, inner, &mut lines);
        }
        lines.join(self.line_break) + &self.end.replace('\n', self.line_break)
    }

    /// Whether there is only one container: containers that set the server's address must agree.
    fn is_alone(&self) -> bool {
        self.containers.len() == 1 && !self.init.contains("first")
    }

    fn push(&self, part: &str, column: usize, lines: &mut Vec<String>) {
        let mut in_list = false;
        for line in part.lines() {
            let steps = line.len() - line.trim_start_matches('@').len();
            let line = line.trim_start_matches('@');
            in_list |= line.starts_with("- ");
            let offset = if in_list && (self.kind != "List" || column > 0) { self.list_offset } else { 0 };
            let text =
                if line.is_empty() { String::new() } else { format!("{}{line}", " ".repeat(column + steps * self.step + offset)) };
            lines.push(text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// [`injected`] checks that injecting twice changes nothing, and that uninjecting restores every byte. Injection itself compares
    /// the result with the intended value.
    #[test]
    fn generated_manifests_are_injected_and_restored(shape in shape()) {
        let text = shape.text();
        let after = injected(&text);
        prop_assert!(after.contains("watchtap.dev/injected"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The API server returns JSON, in which nothing is known of the manifest's notation. The flags are those of the record.
    #[test]
    fn generated_manifests_are_restored_as_json(shape in shape()) {
        let shape = Shape { end: "\n", ..shape };
        let text = shape.text();
        let stored = value(&injected_with(&text, &all_flags())).to_string();
        let back = uninject(&stored);
        prop_assert!(back.objects.iter().all(|object| object.outcome == Outcome::Uninjected), "{:?}", back.objects);
        let restored: Value = serde_json::from_str(&back.text).unwrap();
        prop_assert_eq!(without_empty(restored), without_empty(value(&text)));
        let again = inject(&stored);
        prop_assert!(again.objects.iter().all(|object| matches!(object.outcome, Outcome::UpToDate { .. })), "{:?}", again.objects);
    }
}
