//! `cargo xtask bench`: builds a release watchtap and the benches, and runs them.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::test::{Group, Machine};
use crate::{image, workspace};

/// Measure how fast watchtap decodes bodies, follows reflectors, reads logs and forwards connections, compared with other programs.
///
/// `docs/benches.md` has results, and explains how to read them. Results from a busy machine are meaningless.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// One bench instead of all
    #[arg(value_enum)]
    bench: Option<Bench>,

    /// Number of rounds of each measurement
    #[arg(long, value_name = "NUMBER")]
    rounds: Option<u32>,

    /// Bench `forward`: run only these scenarios, such as list-h1,get-h2
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',', conflicts_with = "write_docs")]
    only: Vec<String>,

    /// Bench `forward`: use only these libraries in client and server: hyper, go
    #[arg(long, value_name = "LIBRARY", value_delimiter = ',', conflicts_with = "write_docs")]
    stack: Vec<String>,

    /// Print one JSON object per bench instead of tables
    #[arg(long)]
    json: bool,

    /// Write the tables into docs/benches.md
    #[arg(long)]
    write_docs: bool,

    /// Bench `forward`: install missing proxies for the comparison (apt-get, as root)
    #[arg(long)]
    install: bool,
}

/// The benches, in the order of their execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Bench {
    /// List bodies, compared with a full parse
    Decode,
    /// Watch events of ten thousand reflectors, compared with a full parse
    Following,
    /// Audit logs, compared with a full parse and with jq
    Logs,
    /// Connections, compared with nginx, haproxy and stunnel
    Forward,
    /// Memory of idle watches, 9 000 and more
    Watches,
    /// Readers of metrics and collectors beside the traffic; a scrape with many clients
    Metrics,
    /// Admissions, 100 a second, compared with a webhook that changes nothing
    Webhook,
    /// Clients under the probe, compared with empty uprobes; runs only if named, because it needs root and Linux
    Probing,
    /// New programs that are seen from their first request; runs only if named, because it needs root and Linux
    FirstRequests,
    /// The sidecar of a pod on a real node: memory, CPU, latency, start, image. Runs only if named, because it needs root, cgroup v1 and
    /// containerd. `WATCHTAP_TESTS_IMAGE` names the image; otherwise it is built
    Pod,
}

pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    if args.bench == Some(Bench::Pod) {
        return measure_pods(args);
    }
    // watchtap is built separately, so that it has the features of a release and no others.
    build(&["--package", "observer", "--bin", "watchtap"])?;
    build(&BENCHES)?;
    for bench in MEASURED {
        // Those of the probe need root, so each of them runs only if it is named.
        let is_of_probe = matches!(bench, Bench::Probing | Bench::FirstRequests);
        if args.bench.map_or(!is_of_probe, |chosen| chosen == bench) {
            // The bench is run by cargo, since only cargo knows the location of the target folder.
            let mut command = release("run", &BENCHES);
            let status = command.arg("--").args(args.of(bench)).status().context("cannot start cargo")?;
            anyhow::ensure!(status.success(), "the bench failed: {status}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The benches of a release.
const MEASURED: [Bench; 9] = [
    Bench::Decode,
    Bench::Following,
    Bench::Logs,
    Bench::Forward,
    Bench::Watches,
    Bench::Metrics,
    Bench::Webhook,
    Bench::Probing,
    Bench::FirstRequests,
];

/// The benches that need a release. The feature `pod` needs the harness of the tests, which would take minutes to compile.
const BENCHES: [&str; 3] = ["--package", "observer-bench", "--no-default-features"];

/// Runs the bench `pod`. It is the debug build of the tests, because it only measures programs of other builds.
fn measure_pods(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(reason) = Group::Node.impossible(&Machine::here()) {
        anyhow::bail!("the bench `pod` cannot run here: {reason}");
    }
    let image = match std::env::var_os(image::TESTS_VARIABLE) {
        Some(image) => std::path::absolute(image)?,
        None if args.json => anyhow::bail!(
            "--json needs an image that is built already, as the build prints its progress: run `cargo xtask image --output FILE`, and \
             name FILE in {}",
            image::TESTS_VARIABLE
        ),
        None => {
            let (mut build, archive) = image::for_tests();
            let status = build.status().context("cannot start the build of the image")?;
            anyhow::ensure!(status.success(), "the image does not build: {status}");
            archive
        }
    };
    anyhow::ensure!(workspace::build_for_tests()?, "the benches do not build: see cargo's messages above");
    let mut command = Command::new(workspace::target().join("debug/observer-bench"));
    let status = command.args(args.of(Bench::Pod)).arg("--image").arg(image).status().context("cannot start the bench")?;
    anyhow::ensure!(status.success(), "the bench failed: {status}");
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// The arguments of `observer-bench`.
    fn of(&self, bench: Bench) -> Vec<String> {
        let mut arguments = vec![String::from(match bench {
            Bench::Decode => "decode",
            Bench::Following => "following",
            Bench::Logs => "logs",
            Bench::Forward => "forward",
            Bench::Watches => "watches",
            Bench::Metrics => "metrics",
            Bench::Webhook => "webhook",
            Bench::Probing => "probing",
            Bench::FirstRequests => "first-requests",
            Bench::Pod => "pod",
        })];
        // Memory is measured once, because it varies little. The number of new programs is part of a budget.
        if let Some(rounds) = self.rounds.filter(|_| !matches!(bench, Bench::Watches | Bench::FirstRequests)) {
            arguments.push(format!("--rounds={rounds}"));
        }
        if self.json {
            arguments.push(String::from("--format=json"));
        }
        if self.write_docs {
            arguments.push(format!("--write-docs={}", page().display()));
        }
        if bench == Bench::Forward {
            if !self.only.is_empty() {
                arguments.push(format!("--only={}", self.only.join(",")));
            }
            if !self.stack.is_empty() {
                arguments.push(format!("--stack={}", self.stack.join(",")));
            }
            if self.install {
                arguments.push(String::from("--install"));
            }
        }
        arguments
    }
}

fn page() -> PathBuf {
    workspace::root().join("docs/benches.md")
}

fn build(selection: &[&str]) -> anyhow::Result<()> {
    let built = release("build", selection).status().context("cannot start cargo")?;
    anyhow::ensure!(built.success(), "the benches do not build: see cargo's messages above");
    Ok(())
}

fn release(subcommand: &str, arguments: &[&str]) -> Command {
    let mut command = workspace::cargo();
    command.args([subcommand, "--quiet", "--release"]).args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_passed_only_to_their_benches() {
        let args = Args {
            bench: None,
            rounds: Some(3),
            only: vec![String::from("list-h1"), String::from("get-h2")],
            stack: vec![String::from("go")],
            json: true,
            write_docs: false,
            install: true,
        };
        assert_eq!(args.of(Bench::Decode), ["decode", "--rounds=3", "--format=json"]);
        assert_eq!(args.of(Bench::Following), ["following", "--rounds=3", "--format=json"]);
        let of_forward = ["forward", "--rounds=3", "--format=json", "--only=list-h1,get-h2", "--stack=go", "--install"];
        assert_eq!(args.of(Bench::Forward), of_forward);
        assert_eq!(args.of(Bench::Watches), ["watches", "--format=json"]);
        assert_eq!(args.of(Bench::Pod), ["pod", "--rounds=3", "--format=json"]);
    }

    #[test]
    fn page_for_the_tables_exists() {
        assert!(page().is_file(), "{}", page().display());
    }
}
