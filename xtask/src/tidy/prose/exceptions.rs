//! Where the rule does not hold, and why.

/// Files, by the beginning of their paths.
pub(super) const FILES: &[(&str, &str)] = &[
    ("CHANGELOG.md", "it quotes what was wrong"),
    ("docs/accuracy.md", "generated from the names of requests"),
    ("docs/faults.md", "generated from the words of clients"),
    ("docs/glossary.md", "it names the retired words"),
    ("xtask/src/tidy/prose/", "its examples break the rule"),
];

/// Passages: a path, words of the passage, and why they are right.
pub(super) const PASSAGES: &[(&str, &str, &str)] = &[(
    "observer/demo/src/refusal.rs",
    "results in an inconsistent list",
    "kube-apiserver's own words (kubernetes/apiserver pkg/storage/etcd3/errors.go), which clients see",
)];

/// Names with a retired word, and the reason.
pub(super) const NAMES: [(&str, &str); 0] = [];
