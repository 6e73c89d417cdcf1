//! kubectl on a node: calls, streams, and forwarded ports.

use std::fs::File;
use std::io::{Seek, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::running::Node;
use crate::bounded::{Lines, output_within};
use crate::kubectl::kubectl;

/// The limit of a call that ends by itself.
const LIMIT: Duration = Duration::from_mins(3);
/// The limit of a line from a call that lasts.
const LINE_WITHIN: Duration = Duration::from_mins(1);

impl Node {
    /// kubectl as a member of `system:masters`.
    pub fn kubectl_command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = self.command(&kubectl().context("kubectl is missing")?)?;
        command.args(arguments);
        Ok(command)
    }

    /// Runs kubectl and returns its output; an error has what it wrote to standard error.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        self.run_kubectl(arguments, Stdio::null())
    }

    /// Like [`Node::kubectl`], with a document for `-f -`.
    pub fn kubectl_with_input(&self, arguments: &[&str], input: &str) -> Result<String> {
        let mut file = tempfile::tempfile()?;
        file.write_all(input.as_bytes())?;
        file.rewind()?;
        self.run_kubectl(arguments, Stdio::from(file))
    }

    fn run_kubectl(&self, arguments: &[&str], input: Stdio) -> Result<String> {
        let output = output_within(self.kubectl_command(arguments)?.stdin(input), LIMIT)?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl {}: {}", arguments.join(" "), errors.trim());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Starts kubectl, and reads its output line by line.
    pub(super) fn follow_kubectl(&self, arguments: &[&str]) -> Result<Followed> {
        let errors = tempfile::tempfile()?;
        let mut command = self.kubectl_command(arguments)?;
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone()?).spawn()?;
        let output = child.stdout.take().context("the output of kubectl is not piped")?;
        Ok(Followed { lines: Lines::of(output, LINE_WITHIN), child, errors })
    }

    /// Forwards a port of the node to a port of a pod, by `kubectl port-forward`.
    pub(super) fn forward(&self, arguments: &[&str], port: u16) -> Result<Forwarded> {
        let ports = format!(":{port}");
        let all: Vec<&str> =
            ["port-forward", "--address=127.0.0.1"].iter().chain(arguments).copied().chain([ports.as_str()]).collect();
        let mut kubectl = self.follow_kubectl(&all)?;
        // `Forwarding from 127.0.0.1:40533 -> 2379`
        let line = kubectl.next_line()?;
        let local = line.split_whitespace().find_map(|word| word.strip_prefix("127.0.0.1:")?.parse().ok());
        let local: u16 = local.with_context(|| format!("kubectl forwards no port: {line}"))?;
        Ok(Forwarded { address: SocketAddr::from((Ipv4Addr::LOCALHOST, local)), _kubectl: kubectl })
    }
}

/// A kubectl that lasts. On drop, it is killed.
#[derive(Debug)]
pub struct Followed {
    lines: Lines,
    child: Child,
    errors: File,
}

impl Followed {
    /// The next line of the output; an error at its end, or if none comes.
    pub fn next_line(&mut self) -> Result<String> {
        self.lines.next_line()?.with_context(|| format!("kubectl ended: {}", self.errors()))
    }

    /// Reads lines until one contains `text`, and returns that.
    pub fn line_with(&mut self, text: &str) -> Result<String> {
        loop {
            let line = self.next_line().with_context(|| format!("no line has {text:?}"))?;
            if line.contains(text) {
                return Ok(line);
            }
        }
    }

    fn errors(&mut self) -> String {
        let read = self.errors.rewind().and_then(|()| std::io::read_to_string(&self.errors));
        read.unwrap_or_else(|error| error.to_string())
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A forwarded port, until it is dropped.
#[derive(Debug)]
pub struct Forwarded {
    /// Where programs on the node reach the pod; see [`Node::connect`].
    pub address: SocketAddr,
    _kubectl: Followed,
}
