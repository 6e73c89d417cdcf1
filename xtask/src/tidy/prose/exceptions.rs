//! The exceptions from the rule, with their reasons.

/// Excepted files: the beginning of their paths, and the reason.
pub(super) const FILES: &[(&str, &str)] = &[
    ("docs/accuracy.md", "generated from the names of requests"),
    ("docs/log-accuracy.md", "generated from the names of tests"),
    ("docs/faults.md", "generated from the words of clients"),
    ("docs/glossary.md", "it names the retired words"),
    ("xtask/src/tidy/prose/", "its examples break the rule"),
];

/// Excepted passages: the path of the file, words in the passage, and the reason.
pub(super) const PASSAGES: &[(&str, &str, &str)] = &[(
    "observer/demo/src/refusal.rs",
    "results in an inconsistent list",
    "kube-apiserver's own words (kubernetes/apiserver pkg/storage/etcd3/errors.go), which clients see",
)];

/// Excepted names with a retired word, and the reason.
pub(super) const NAMES: [(&str, &str); 0] = [];
