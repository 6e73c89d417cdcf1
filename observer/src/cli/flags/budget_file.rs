//! Reads the file of `--budget`. An error never quotes the file, which may be a secret taken for a budget.

use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use observer_core::observer::Budget;
use serde_json::error::Category;

use crate::bounded_file;
use crate::cli::nearest::{hint, nearest};

/// Longest budget file that is read, in bytes.
const MAX_BUDGET: u64 = 1 << 20;

/// Reads a budget.
pub(super) fn read(path: &Path) -> Result<Budget> {
    let shown = path.display();
    let text = bounded_file::read_text(path, MAX_BUDGET).with_context(|| format!("cannot read {shown}"))?;
    let budget: Budget =
        serde_json::from_str(&text).map_err(|error| anyhow!("{shown} is not a budget: {}", description(&error)))?;
    let (schema, known) = (&budget.schema, Budget::SCHEMA);
    ensure!(schema == known, "{shown} has another schema; this watchtap reads {known:?}");
    Ok(budget)
}

/// The position of an error, and what may be meant or is allowed there.
fn description(error: &serde_json::Error) -> String {
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Data => match unknown_key(&error.to_string()) {
            Some((key, known)) => match nearest(key, known.iter().map(ToString::to_string)) {
                near if near.is_empty() => {
                    format!("{place} has an unknown key; allowed there: {} (docs/budget.md)", known.join(", "))
                }
                near => format!("{place} has an unknown key{} (docs/budget.md)", hint(&near)),
            },
            None => format!("{place} has an unexpected value, or a key is missing; limits are integers (docs/budget.md)"),
        },
        Category::Syntax | Category::Eof | Category::Io => {
            format!("{place} is not JSON; --write-budget creates a budget from a run (docs/budget.md)")
        }
    }
}

/// The unknown key that an error of serde is about, and the keys that are known at its place. The key is of the file and must not be
/// shown; the known ones are serde's, because they follow the last `expected`.
fn unknown_key(error: &str) -> Option<(&str, Vec<&str>)> {
    let (before, known) = error.rsplit_once("`, expected one of ")?;
    let (_, key) = before.split_once('`')?;
    Some((key, known.split('`').skip(1).step_by(2).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_states_the_place_and_the_nearest_name() {
        for (text, said) in [
            (
                "\n\"findings\": {\"deaf-wacth\": 0}",
                "line 2, column 25 has an unknown key; did you mean `deaf-watch`? (docs/budget.md)",
            ),
            ("\"findings\": {\"lists\": 0}", "has an unknown key; did you mean `lists-from-etcd`? (docs/budget.md)"),
            ("\"finding\": {}", "line 1, column 42 has an unknown key; did you mean `findings`? (docs/budget.md)"),
            ("\"total\": {\"list\": 0}", "line 1, column 49 has an unknown key; did you mean `lists`? (docs/budget.md)"),
            ("\"other_findings\": {}", "has an unexpected value, or a key is missing; limits are integers (docs/budget.md)"),
            (
                "\"total\": {\"`, expected one of `c4n4ry`\": 0}",
                "has an unknown key; allowed there: lists, lists_from_etcd, items, bytes, relists, duplicate_informers \
                 (docs/budget.md)",
            ),
        ] {
            let file = format!("{{\"schema\": \"watchtap.budget/v1\", {text}}}");
            let described = description(&serde_json::from_str::<Budget>(&file).unwrap_err());
            assert!(described.ends_with(said) && described.starts_with("line "), "{text}: {described}");
        }
    }
}
