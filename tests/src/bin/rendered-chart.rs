//! Writes the objects of `deploy/chart` into `deploy/kustomize`, for `cargo xtask chart`. With `--check`, compares them instead, and exits
//! with 1 if they differ.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use observer_tests::kustomize::{present, rendered, write};

fn main() -> Result<ExitCode> {
    let (rendered, present) = (rendered()?, present()?);
    if std::env::args().nth(1).as_deref() != Some("--check") {
        writeln!(io::stdout(), "{} files in {}", rendered.len(), write(&rendered)?.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let names = rendered.keys().chain(present.keys().filter(|name| !rendered.contains_key(*name)));
    let different: Vec<&String> = names.filter(|name| rendered.get(*name) != present.get(*name)).collect();
    for name in &different {
        writeln!(io::stderr(), "deploy/kustomize/{name} is not that of the chart")?;
    }
    Ok(if different.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
