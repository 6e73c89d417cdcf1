//! Runs a node until its standard input closes, for manual experiments: `cargo run -p observer-tests --bin test-node`.
//!
//! The first line on standard output is a JSON object with the command that opens a shell there, in which `kubectl` works.

use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::Result;
use observer_tests::node::Node;
use serde_json::json;

fn main() -> Result<()> {
    let node = Node::start()?;
    let description = json!({
        "shell": format!("{:?}", node.command(Path::new("sh"))?),
        "folder": node.folder(),
        "cgroup": node.cgroup(),
        "leavings": node.leavings(),
    });
    writeln!(io::stdout(), "{description}")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
