//! Tests of unusable kubeconfig files: the error names the file and the remedy.

use std::fs;

use super::fixture::{Home, config, fails, refuses};
use crate::kubeconfig::{Environment, Kubeconfig};

const SERVER: &str = "server: 'https://a:6443'";

#[test]
fn missing_kubeconfig_files_are_reported() {
    let home = Home::new();
    fails(&home, "absent:gone", "no kubeconfig: there is no ~/absent and no ~/gone; set KUBECONFIG to the path of one that exists");
    fails(&home, "", "no kubeconfig: there is no ~/.kube/config; set KUBECONFIG to the path of one that exists");
}

#[test]
fn unset_kubeconfig_and_home_are_reported() {
    let expected = "no kubeconfig: neither KUBECONFIG nor HOME is set; set KUBECONFIG to the path of a kubeconfig";
    fails(&Home::new(), "::", expected);
    assert_eq!(Kubeconfig::load(&Environment::default()).unwrap_err().to_string(), expected);
}

#[test]
fn folder_in_place_of_the_file_is_refused() {
    let home = Home::new();
    fs::create_dir(home.path().join("config")).unwrap();
    fails(
        &home,
        "config",
        "cannot read the kubeconfig ~/config: Is a directory (os error 21); set KUBECONFIG to the path of a file that you may read",
    );
}

#[test]
fn unreadable_file_is_refused() {
    let home = Home::with_config(&config(SERVER, ""));
    home.forbid("config");
    if fs::read(home.path().join("config")).is_err() {
        fails(&home, "config", "cannot read the kubeconfig ~/config: Permission denied (os error 13)");
    } else {
        // Removing permissions does not stop root. But no user, not even root, can open a path below a regular file.
        fails(
            &home,
            "config/config",
            "cannot read the kubeconfig ~/config/config: Not a directory (os error 20); set KUBECONFIG to the path of a file that you may read",
        );
    }
}

#[test]
fn empty_file_is_refused() {
    for empty in ["", "\n", "# nothing\n", "---\n", "{}"] {
        refuses(empty, "~/config: empty; set KUBECONFIG to the path of a kubeconfig, or have your cluster's tool write one");
    }
}

#[test]
fn oversized_kubeconfig_is_refused() {
    let entry = "- {name: a, cluster: {server: 'https://x'}}\n";
    let text = format!("clusters:\n{}", entry.repeat(10_000_000 / entry.len()));
    refuses(
        &text,
        "~/config: larger than 8388608 bytes; write the context you need to a file of its own (kubectl config view --minify --flatten) and set KUBECONFIG to that",
    );
}

#[test]
fn undecodable_text_is_refused() {
    let home = Home::new();
    for bytes in [&b"clusters: \xC3\x28"[..], b"\xFF\xFEa", b"\xFE\xFF\xD8\x00\x00a", b"\xEF\xBB\xBF\xFF"] {
        home.write("config", bytes);
        fails(&home, "config", "~/config: not text in UTF-8 or UTF-16; is this a kubeconfig?");
    }
}

#[test]
fn overlong_yaml_keys_are_refused() {
    let text = |key: &str| format!("users:\n- name: u\n  user:\n    ? {key}\n    : x\n");
    let what = "~/config: has a key of 1025 characters; YAML allows 1024 on one line; set KUBECONFIG to the path of a \
                kubeconfig";
    refuses(&text(&"k".repeat(1_023)), what);
    let fits = Home::with_config(&text(&"k".repeat(1_022)));
    assert!(fits.load("config").is_ok(), "with its quotes it just fits");
}

#[test]
fn invalid_yaml_is_refused() {
    refuses(
        "users: [{user: {token: s3cret}, : x]",
        "~/config: not valid YAML: mismatched bracket '{' closed by ']' at line 1, column 9",
    );
    refuses("a: *nowhere\n", "~/config: not valid YAML: alias references unknown anchor at line 1, column 4");
    refuses("a: &a [*a]\n", "~/config: not valid YAML: recursive references require weak recursion types at line 1, column 8");
    refuses("users: [{user: {token: !!int s3cret}}]", "~/config: not valid YAML: invalid u64 at line 1, column 30");
    refuses("users: [{user: {token: !!binary s3cret!}}]", "~/config: not valid YAML: invalid !!binary base64 at line 1, column 33");
    refuses("users: [{user: {token: !!bool s3cret}}]", "~/config: not valid YAML: invalid boolean at line 1, column 31");
    refuses(
        "users: [{user: {token: \"s3cret\\q\"}}]",
        "~/config: not valid YAML: while parsing a quoted scalar, found unknown escape character at line 1, column 24",
    );
    refuses(
        "users:\n- user:\n    token: s3cret\n   s3cret: x\n",
        "~/config: not valid YAML: while parsing a block mapping, did not find expected key at line 4, column 4",
    );
    refuses(&"[".repeat(100_000), "~/config: not valid YAML: recursion limit exceeded at line 1, column 256");
    refuses(
        &alias_bomb(),
        "~/config: not valid YAML: alias replay limit exceeded: total_replayed_events=50001 > 50000 at line 1, column 26 (defined at line 4, column 7) (used at line 5, column 16)",
    );
}

#[test]
fn yaml_of_another_kind_is_refused() {
    refuses("- a\n- b\n", "~/config: contains a list, not a kubeconfig; set KUBECONFIG to the path of a kubeconfig");
    refuses("just words", "~/config: contains a string, not a kubeconfig; set KUBECONFIG to the path of a kubeconfig");
    refuses(
        "apiVersion: v1\nkind: Pod\n",
        r#"~/config: kind is "Pod", which is not valid in a kubeconfig; set KUBECONFIG to the path of a kubeconfig"#,
    );
    refuses(
        "apiVersion: apps/v1\nkind: Deployment\n",
        r#"~/config: apiVersion is "apps/v1", which is not valid in a kubeconfig; set KUBECONFIG to the path of a kubeconfig"#,
    );
    refuses("apiVersion: 1\n", r#"~/config: apiVersion: expected "v1" but found a number"#);
}

/// Seven lines of YAML that expand to a million words through aliases.
fn alias_bomb() -> String {
    let lines = ('b'..='g').map(|name| {
        let before = char::from_u32(u32::from(name) - 1).unwrap();
        format!("{name}: &{name} [{}]\n", format!("*{before}, ").repeat(10))
    });
    std::iter::once(format!("a: &a [{}]\n", "x, ".repeat(10))).chain(lines).collect()
}

#[test]
fn truncated_kubeconfigs_are_read_or_refused() {
    let home = Home::new();
    let whole = include_str!("with_everything.yaml");
    let refused = (0..whole.len()).step_by(17).filter(|end| {
        home.write("config", &whole[..*end]);
        home.load("config").and_then(|loaded| loaded.current()).is_err()
    });
    assert!(refused.count() > 50);
}
