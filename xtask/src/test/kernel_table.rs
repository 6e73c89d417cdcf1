//! Writes the table of kernels into docs/probe.md, from the files that the tests of the group `vm` write.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context;
use serde_json::Value;

use super::document::{Document, line, text_of};
use super::kernels::Kernels;
use crate::workspace;

const DOCUMENT: Document = Document { path: "docs/probe.md", folder: "kernels" };

/// The heading of the section, the last one.
const HEADING: &str = "## Kernels that tests boot";

const INTRODUCTION: &str = "
Virtual machines boot these kernels of Debian (`tests/kernel/vm`), emulated on x86-64. The API server is a kube-apiserver outside of them.
Those for x86-64 have the programs, libraries and clients of the machine that runs the tests. The one for arm64 has packages of Debian and
the program of the image.
A row of a client means on x86-64: the events of the probe equal those of the proxy for the same requests, and the probe lost nothing. Only
times, and numbers that each assigns, are not compared. The client lists and watches 20 updates, and then its watch expires. On arm64, the
row means: the probe reports exactly the requests that the client sent, by the audit log of the API server, and lost nothing.
The client in Go has a connection that is open before the probe. Its API server is the demo, and it sends the same requests in each kernel.
For 5.14 (RHEL 9) and 5.15 (Ubuntu 22.04) there is no package. Their rows mean: a probe on 6.1 uses only the features that such a kernel has,
and the events of all these clients equal those of the proxy.
With losses: if writers fill the ring, the bytes seen and the bytes counted as lost are together all bytes.
`cargo xtask test --only vm --vm all` writes this section.
";

/// Removes the files of an earlier run.
pub(super) fn forget() -> anyhow::Result<()> {
    DOCUMENT.forget()
}

/// Replaces the section. Fails if a kernel has no results; the error names it.
pub(super) fn write() -> anyhow::Result<()> {
    let mut kernels = Vec::new();
    for kernel in Kernels::names() {
        let file = DOCUMENT.folder().join(format!("{kernel}.json"));
        let text =
            fs::read_to_string(&file).with_context(|| format!("{} is not written: no results of {kernel}", DOCUMENT.path))?;
        kernels.push(serde_json::from_str(&text).with_context(|| format!("cannot read {}", file.display()))?);
    }
    let section = section(&kernels).context("cannot use the results of kernels")?;
    let document = workspace::root().join(DOCUMENT.path);
    let document = fs::read_to_string(&document).with_context(|| format!("cannot read {}", document.display()))?;
    let before = document.split_once(HEADING).map_or(document.as_str(), |(before, _)| before);
    DOCUMENT.write(&format!("{}\n\n{section}", before.trim_end()))
}

/// One row for each name in any kernel's results, one column for each kernel.
fn section(kernels: &[Value]) -> anyhow::Result<String> {
    let mut names: Vec<String> = Vec::new();
    let mut releases = Vec::new();
    let mut columns: Vec<BTreeMap<String, String>> = Vec::new();
    for kernel in kernels {
        releases.push(text_of(kernel, "release")?);
        let mut column = BTreeMap::new();
        for row in kernel["rows"].as_array().context("no rows")? {
            let name = text_of(row, "name")?;
            if !names.contains(&name) {
                names.push(name.clone());
            }
            column.insert(name, text_of(row, "result")?);
        }
        columns.push(column);
    }
    let mut section = String::new();
    line(&mut section, HEADING);
    section.push_str(INTRODUCTION);
    line(&mut section, &format!("\n| | {} |", releases.join(" | ")));
    line(&mut section, &format!("|---|{}", "---|".repeat(releases.len())));
    for name in names {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(&name).map_or("not tried", String::as_str)).collect();
        line(&mut section, &format!("| {name} | {} |", cells.join(" | ")));
    }
    Ok(section)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_without_a_result_were_not_tried() {
        let row = |name: &str, result: &str| json!({ "name": name, "result": result });
        let old = json!({ "release": "5.10.0", "rows": [row("check", "cannot probe")] });
        let new = json!({ "release": "7.3.4", "rows": [row("check", "can probe"), row("Python", "yes")] });
        let section = section(&[old, new]).unwrap();
        let table = section.split_once("writes this section.\n").unwrap().1;
        let expected = "
| | 5.10.0 | 7.3.4 |
|---|---|---|
| check | cannot probe | can probe |
| Python | not tried | yes |
";
        assert_eq!(table, expected);
    }
}
