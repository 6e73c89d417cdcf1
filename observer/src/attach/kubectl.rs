//! A connection to the run in a pod: `kubectl exec` of the sidecar's own binary, which relays to its socket.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::link::Link;
use crate::pod_layout;
use crate::printable::{HeldStderr, Printable};

/// Where the sidecar's image has watchtap.
const BINARY: &str = "/watchtap";

/// Maximum length of a line of kubectl, in bytes; the rest is dropped.
const LONGEST: u64 = 4096;

/// Number of lines of kubectl that are kept to explain its failure.
const MOST_LINES: usize = 8;

/// Time for kubectl to end by itself.
const END: Duration = Duration::from_secs(2);

/// Interval at which its end is checked for.
const LOOK: Duration = Duration::from_millis(10);

/// A pod with a sidecar, as kubectl names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PodTarget {
    /// `NAME`, `pod/NAME`, `deployment/NAME`.
    pub(crate) name: String,
    pub(crate) container: String,
    pub(crate) namespace: Option<String>,
    pub(crate) context: Option<String>,
}

/// A running kubectl. It is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Kubectl {
    target: PodTarget,
    child: Child,
    /// Copies its stderr.
    copying: Option<JoinHandle<()>>,
    said: Arc<Mutex<VecDeque<String>>>,
}

impl PodTarget {
    /// The arguments of kubectl. Standard output carries messages and not a terminal, so there is no `-t`.
    fn arguments(&self) -> Vec<String> {
        let socket = Path::new(pod_layout::OWN).join(pod_layout::ATTACH_SOCKET).display().to_string();
        let context = self.context.iter().flat_map(|context| ["--context".to_owned(), context.clone()]);
        let namespace = self.namespace.iter().flat_map(|namespace| ["--namespace".to_owned(), namespace.clone()]);
        let exec = ["exec", "--stdin", &self.name, "--container", &self.container, "--"].map(str::to_owned);
        let relay = [BINARY, "attach", "--relay", "--socket", &socket].map(str::to_owned);
        context.chain(namespace).chain(exec).chain(relay).collect()
    }
}

impl Kubectl {
    /// Starts kubectl. Its messages are printed, or held back while a page is shown.
    pub(crate) fn start(target: PodTarget) -> Result<(Self, Link)> {
        ensure!(!target.name.starts_with('-'), "{} is not the name of a pod", target.name);
        let started = Command::new("kubectl")
            .args(target.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match started {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!("kubectl is not in PATH; watchtap attach uses it to reach a pod")
            }
            started => started.context("cannot run kubectl")?,
        };
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let said = Arc::default();
        let copying = stderr.map(|stderr| copy(stderr, Arc::clone(&said))).transpose()?;
        // From here on, dropping this ends kubectl.
        let kubectl = Self { target, child, copying, said };
        let (stdin, stdout) = stdin.zip(stdout).context("kubectl has no streams")?;
        Ok((kubectl, Link::over(stdout.into(), stdin.into())?))
    }

    /// Why no run answered, from the exit and the messages of kubectl. Drop the link before.
    pub(crate) fn failure(mut self) -> Option<String> {
        let status = self.end().ok()?;
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        (!status.success()).then(|| explain(&self.target, said.iter().map(String::as_str)))
    }

    /// Waits for kubectl, and ends it if it does not end by itself.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let until = Instant::now() + END;
        let status = loop {
            match self.child.try_wait()? {
                Some(status) => break status,
                None if Instant::now() < until => thread::sleep(LOOK),
                None => {
                    self.child.kill()?;
                    break self.child.wait()?;
                }
            }
        };
        // Its last lines explain a failure. A plugin that it started may keep the stream open.
        while self.copying.as_ref().is_some_and(|copying| !copying.is_finished()) && Instant::now() < until {
            thread::sleep(LOOK);
        }
        Ok(status)
    }
}

impl Drop for Kubectl {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::debug!("kubectl could not be ended: {error}");
        }
    }
}

/// Prints each line of kubectl, and keeps the last ones.
fn copy(stderr: ChildStderr, said: Arc<Mutex<VecDeque<String>>>) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("kubectl".to_owned()).spawn(move || {
        let mut stderr = BufReader::new(stderr);
        while let Some(text) = next_line(&mut stderr) {
            // If stderr is closed, there is nowhere to report that.
            let _written = HeldStderr::print(&Printable::paragraph(&text));
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() == MOST_LINES {
                said.pop_front();
            }
            said.push_back(text);
        }
    })
}

/// The next line, up to its maximum length; `None` at the end.
fn next_line(stream: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = stream.by_ref().take(LONGEST).read_until(b'\n', &mut line).ok()?;
    if line.last() != Some(&b'\n') {
        stream.skip_until(b'\n').ok()?;
    }
    (read > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// The remedy for what kubectl reported.
fn explain<'s>(target: &PodTarget, said: impl Iterator<Item = &'s str>) -> String {
    let PodTarget { name, container, .. } = target;
    let said: Vec<&str> = said.collect();
    let has = |words: &[&str]| said.iter().any(|line| words.iter().all(|word| line.contains(word)));
    // The kubelet's message about a container of the pod that does not run (kubernetes/kubernetes `pkg/kubelet/kubelet_pods.go`,
    // `RunInContainer`, v1.34).
    if has(&[&format!("container not found (\"{container}\")")]) {
        return format!("container {container} of {name} does not run now; `kubectl get pod` and `kubectl describe pod` show why");
    }
    // The API server's message (kubernetes/kubernetes `pkg/registry/core/pod/strategy.go`, `streamLocation`, v1.34).
    if has(&[&format!("container {container} is not valid for pod")]) {
        return format!(
            "{name} has no container {container}: put watchtap beside its containers with `watchtap inject`, or name another \
             container with --container"
        );
    }
    // The relay's message.
    if has(&["watchtap: no run can be reached at"]) {
        return format!(
            "container {container} of {name} offers no page: it is starting, or runs with --no-attach; `kubectl logs {name} \
             --container {container}` shows its messages"
        );
    }
    if has(&[BINARY, "no such file"]) || has(&["stat", BINARY]) {
        return format!("container {container} of {name} has no {BINARY}: it is not a sidecar that `watchtap inject` makes");
    }
    format!("kubectl could not reach {name}; its message is above")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubectl_runs_the_relay_in_the_sidecar() {
        let target = PodTarget {
            name: "deployment/app".to_owned(),
            container: "watchtap".to_owned(),
            namespace: Some("shop".to_owned()),
            context: Some("kind-dev".to_owned()),
        };
        assert_eq!(
            target.arguments().join(" "),
            "--context kind-dev --namespace shop exec --stdin deployment/app --container watchtap -- /watchtap attach --relay --socket \
             /var/run/secrets/watchtap/own/attach.sock"
        );
    }

    #[test]
    fn messages_of_kubectl_lead_to_a_remedy() {
        let target = PodTarget { name: "a".to_owned(), container: "watchtap".to_owned(), namespace: None, context: None };
        for (said, remedy) in [
            ("error: container watchtap is not valid for pod a", "watchtap inject"),
            ("error: unable to upgrade connection: container not found (\"watchtap\")", "does not run now"),
            ("Error from server (NotFound): pods \"container-registry-1\" not found", "its message is above"),
            ("error: container create: executable file `/watchtap` not found: stat /watchtap: no such file", "not a sidecar"),
            ("exec: \"/watchtap\": stat /watchtap: no such file or directory", "not a sidecar"),
            ("Error from server (NotFound): pods \"a\" not found", "its message is above"),
            ("watchtap: no run can be reached at /own/attach.sock: No such file or directory (os error 2)", "kubectl logs a"),
        ] {
            let explained = explain(&target, [said].into_iter());
            assert!(explained.contains(remedy), "{said}: {explained}");
        }
    }

    #[test]
    fn rest_of_a_long_line_is_dropped() {
        let long = usize::try_from(LONGEST).unwrap();
        let mut stream = io::Cursor::new(format!("{}\n\nnext\n{}\nlast", "x".repeat(long + 1), "y".repeat(long - 1)));
        let lines: Vec<String> = std::iter::from_fn(|| next_line(&mut stream)).collect();
        assert_eq!(lines, ["x".repeat(long), String::new(), "next".to_owned(), "y".repeat(long - 1), "last".to_owned()]);
    }
}
