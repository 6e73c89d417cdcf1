//! Rule: CI runs the test command in the README.

use super::tree::Tree;

const README: &str = "README.md";
const CI: &str = ".ci/run";

/// The first line of a code block that calls `cargo xtask test`, without a prompt or a comment.
fn test_command(readme: &str) -> Option<&str> {
    let mut in_block = false;
    for line in readme.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        let command = line.split('#').next().unwrap_or(line).trim().trim_start_matches("$ ");
        if in_block && command.starts_with("cargo xtask test") {
            return Some(command);
        }
    }
    None
}

/// Whether a line of `script` is `command`, with optional further arguments and an optional time limit before it.
fn calls(script: &str, command: &str) -> bool {
    let commands = script.lines().filter_map(|line| {
        let (before, rest) = line.trim().split_once(command)?;
        (before.is_empty() || before.starts_with("timeout ")).then_some(rest)
    });
    commands.into_iter().any(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[test]
fn ci_runs_the_test_command_of_the_readme() {
    let tree = Tree::read();
    let command = test_command(&tree.file(README).text).expect("README.md has a code block with `cargo xtask test`");
    assert!(calls(&tree.file(CI).text, command), "{CI} does not call `{command}`, the test command of {README}");
}

#[test]
fn command_is_found_in_code_blocks_only() {
    let readme = "Use cargo xtask test.\n\ncargo xtask test --prose\n\n```sh\ncargo xtask run\n$ cargo xtask test --all   # everything\n```\n";
    assert_eq!(test_command(readme), Some("cargo xtask test --all"));
    assert_eq!(test_command("cargo xtask test"), None);
}

#[test]
fn script_that_runs_something_else_is_caught() {
    assert!(calls("set -e\ncargo xtask test --require cluster\n", "cargo xtask test"));
    assert!(calls("timeout 75m cargo xtask test\n", "cargo xtask test"));
    assert!(!calls("# cargo xtask test\ncargo xtask tests\ncargo test\n", "cargo xtask test"));
}
