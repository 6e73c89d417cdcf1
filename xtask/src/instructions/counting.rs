//! Builds the counted program of a commit, and counts its instructions with callgrind.
//!
//! Many virtual machines have no hardware counters, and callgrind needs none. It emulates the processor, including the results of
//! CPUID. So on every machine with AVX2, each library chooses the same vector instructions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::comparison::Counted;
use crate::workspace;

/// The package of the program, and its folder.
const PACKAGE: &str = "observer-counted";
const FOLDER: &str = "tests/bench/counted";

/// The regions of code that are counted. Each is a function `counted_REGION` of the program.
pub(crate) const REGIONS: [&str; 3] = ["decode", "follow", "forward"];

/// The built program of one commit.
pub(crate) struct Program {
    path: PathBuf,
}

/// The folder for all files of this task.
pub(crate) fn folder() -> PathBuf {
    workspace::target().join("instructions")
}

impl Program {
    /// Builds the program of the workspace at `root`. Returns `None` if that commit has no such program.
    ///
    /// Each commit has its own target folder. Cargo identifies files of a workspace by their relative path. With a shared folder,
    /// it could use the program of one commit for the other.
    pub(crate) fn build(root: &Path, name: &str) -> anyhow::Result<Option<Self>> {
        if !root.join(FOLDER).join("Cargo.toml").is_file() {
            return Ok(None);
        }
        let mut cargo = workspace::cargo();
        let target = folder().join(format!("build-{name}"));
        cargo.current_dir(root).env("CARGO_TARGET_DIR", &target).env_remove("CARGO_MANIFEST_DIR");
        cargo.args(["build", "--quiet", "--release", "--locked", "--package", PACKAGE]);
        let status = cargo.status().context("cannot start cargo")?;
        ensure!(status.success(), "{PACKAGE} of {name} does not build: see cargo's messages above");
        let path = folder().join(name);
        let built = target.join("release").join(PACKAGE);
        fs::copy(&built, &path).with_context(|| format!("cannot copy {}", built.display()))?;
        Ok(Some(Self { path }))
    }

    /// Counts the instructions of a region. Also returns the vector instructions that the program chose, as it printed them.
    fn count(&self, region: &str) -> anyhow::Result<(u64, String)> {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
        valgrind.arg(format!("--toggle-collect=*counted_{region}*")).arg(&self.path).arg(region);
        let output = valgrind.output().context("cannot start valgrind (Debian package valgrind)")?;
        let messages = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{region} of {} failed:\n{messages}", self.path.display());
        let count = collected(&messages).filter(|count| *count > 0);
        let count = count.with_context(|| format!("callgrind has not found counted_{region}:\n{messages}"))?;
        Ok((count, String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    }
}

/// Counts all regions of both programs, each `runs` times, and prints the spread of repeated counts.
pub(crate) fn count_all(base: &Program, head: &Program, runs: u32) -> anyhow::Result<Vec<Counted>> {
    REGIONS.into_iter().map(|region| count_region(base, head, region, runs)).collect()
}

fn count_region(base: &Program, head: &Program, region: &'static str, runs: u32) -> anyhow::Result<Counted> {
    let (mut of_base, mut of_head) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let (base, base_vectors) = base.count(region)?;
        let (head, head_vectors) = head.count(region)?;
        ensure!(base_vectors == head_vectors, "{region} was counted with {base_vectors} and with {head_vectors}");
        of_base.push(base);
        of_head.push(head);
    }
    if runs > 1 {
        println!("{region}: {runs} counts of head lie within {:.4} %", spread(&of_head));
    }
    let least = |counts: Vec<u64>| counts.into_iter().min().context("no run");
    Ok(Counted { region, base: least(of_base)?, head: least(of_head)? })
}

/// The sum in callgrind's final messages, such as `==7== Collected : 18422551`.
fn collected(messages: &str) -> Option<u64> {
    messages.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

/// The difference between the largest and the smallest count, in percent of the smallest.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn spread(counts: &[u64]) -> f64 {
    let (least, most) = (counts.iter().min().copied().unwrap_or_default(), counts.iter().max().copied().unwrap_or_default());
    if least == 0 { 0.0 } else { (most - least) as f64 / least as f64 * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_count_is_read_from_callgrind_messages() {
        let messages =
            "==7== Callgrind, a call-graph generating cache profiler\n==7== \n==7== Events    : Ir\n==7== Collected : 18422551\n";
        assert_eq!(collected(messages), Some(18_422_551));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }

    #[test]
    fn spread_is_relative_to_the_smallest_count() {
        assert!((spread(&[1_000, 1_010, 1_005]) - 1.0).abs() < 1e-9);
        assert!(spread(&[5, 5]).abs() < 1e-9);
    }

    #[test]
    fn each_region_is_a_function_that_is_not_inlined() {
        let text = fs::read_to_string(workspace::root().join(FOLDER).join("src/regions.rs")).unwrap();
        for region in REGIONS {
            assert!(text.contains(&format!("#[inline(never)]\nfn counted_{region}(")), "{region}");
        }
    }
}
