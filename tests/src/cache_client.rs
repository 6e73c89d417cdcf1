//! Clients that keep a copy of the config maps of one namespace, one process each.

use std::fmt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::bounded::{Lines, wait_within};
use crate::client_go::ClientGo;
use crate::kubectl::{kubectl, kubectl_version};
use crate::locked_version::locked_version;
use crate::programs;
use crate::request_form::RequestForms;

/// Time limit of every wait. client-go's backoff reaches some thirty seconds, with jitter.
const WITHIN: Duration = Duration::from_mins(2);

/// Queried once, because client names are formatted often.
static KUBECTL_VERSION: LazyLock<String> =
    LazyLock::new(|| kubectl_version().unwrap_or_else(|error| format!("of no known version ({error})")));

/// A kind of caching client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheClient {
    /// A shared informer.
    Informer(ClientGo, HttpVersion),
    /// A watcher of kube-rs with its usual backoff. It speaks HTTP/1.1 only.
    KubeRs,
    /// `kubectl get --watch`, which exits when its watch ends.
    Kubectl(HttpVersion),
}

/// The HTTP version of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HttpVersion {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two,
    /// HTTP/2, with client-go's pings disabled.
    TwoWithoutPings,
}

/// How a client fetches its initial list, where it has the choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListForm {
    /// The client's default.
    #[default]
    Usual,
    /// A list, followed by a watch.
    Plain,
    /// A streaming list: a watch that begins with the existing objects.
    Streaming,
}

/// The process of a client; dropping it kills the process.
#[derive(Debug)]
pub struct CacheProcess {
    child: Child,
    lines: Lines,
    said: Vec<String>,
    /// Whether the process has closed its standard output.
    is_over: bool,
}

impl CacheClient {
    /// Each kind of client with each protocol that it supports.
    pub fn all() -> Vec<Self> {
        let both = [HttpVersion::Two, HttpVersion::One];
        let informers = ClientGo::ALL.into_iter().flat_map(|release| both.map(|http| Self::Informer(release, http)));
        informers.chain([Self::KubeRs]).chain(both.map(Self::Kubectl)).collect()
    }

    /// Starts a client for `namespace`.
    pub fn start(self, kubeconfig: &Path, namespace: &str) -> Result<CacheProcess> {
        let mut command = self.command(namespace)?;
        if let Self::Informer(..) = self {
            command.arg(self.to_string());
        }
        self.spawn(command, kubeconfig)
    }

    /// Starts a client with this `user_agent` and list form; not for kubectl.
    pub fn start_as(self, user_agent: &str, form: ListForm, kubeconfig: &Path, namespace: &str) -> Result<CacheProcess> {
        let mut command = self.command(namespace)?;
        command.arg(user_agent);
        match (self, form) {
            (_, ListForm::Usual) => {}
            // client-go features/envvar.go: an environment variable sets each feature gate of client-go.
            (Self::Informer(..), form) => {
                command.env("KUBE_FEATURE_WatchListClient", (form == ListForm::Streaming).to_string());
            }
            (_, ListForm::Streaming) => {
                command.arg("streaming");
            }
            (_, ListForm::Plain) => {}
        }
        self.spawn(command, kubeconfig)
    }

    fn command(self, namespace: &str) -> Result<Command> {
        Ok(match self {
            Self::Informer(release, _) => {
                let mut command = Command::new(release.reflector()?);
                command.arg(namespace);
                command
            }
            Self::KubeRs => {
                let mut command = Command::new(programs::built("kube-reflector")?);
                command.arg(namespace);
                command
            }
            Self::Kubectl(_) => {
                let mut command = Command::new(kubectl().context("kubectl is missing")?);
                let columns = "custom-columns=NAME:.metadata.name,VERSION:.metadata.resourceVersion";
                command.args(["get", "configmaps", "--namespace", namespace, "--watch", "--no-headers", "--output", columns]);
                command
            }
        })
    }

    fn spawn(self, mut command: Command, kubeconfig: &Path) -> Result<CacheProcess> {
        if self.http() == HttpVersion::One {
            command.env("DISABLE_HTTP2", "true");
        }
        // Clients that send pings find a dead connection sooner than with the defaults of 30 and 15 s. 0 disables the pings
        // (kubernetes/apimachinery `pkg/util/net/http.go` `readIdleTimeoutSeconds`).
        let idle = if self.http() == HttpVersion::TwoWithoutPings { "0" } else { "5" };
        command.env("HTTP2_READ_IDLE_TIMEOUT_SECONDS", idle).env("HTTP2_PING_TIMEOUT_SECONDS", "5");
        command.env("KUBECONFIG", kubeconfig);
        CacheProcess::spawn(command).with_context(|| format!("cannot start {self}"))
    }

    /// Whether the client starts a new watch after its watch ends.
    pub fn reopens_watches(self) -> bool {
        !matches!(self, Self::Kubectl(_))
    }

    /// Whether the client sends another request on its open connections after a signal.
    pub fn asks_on_signal(self) -> bool {
        matches!(self, Self::Informer(..))
    }

    /// Whether its own pings detect a silent connection: on HTTP/2, since client-go 0.20 and in late patches of earlier minors.
    pub fn pings(self) -> bool {
        matches!(self, Self::Informer(ClientGo::V0_18 | ClientGo::V0_26 | ClientGo::V0_37, HttpVersion::Two))
    }

    /// The HTTP version of this client.
    pub fn http(self) -> HttpVersion {
        match self {
            Self::Informer(_, http) | Self::Kubectl(http) => http,
            Self::KubeRs => HttpVersion::One,
        }
    }
}

impl fmt::Display for CacheClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Informer(release, _) => release.name(),
            Self::KubeRs => format!("kube-rs {}", locked_version("kube").unwrap_or("of no known version")),
            Self::Kubectl(_) => format!("kubectl {} get -w", *KUBECTL_VERSION),
        };
        let http = match self.http() {
            HttpVersion::One => "HTTP/1.1",
            HttpVersion::Two => "HTTP/2",
            HttpVersion::TwoWithoutPings => "HTTP/2 without pings",
        };
        write!(formatter, "{name}, {http}")
    }
}

impl CacheProcess {
    /// Starts any other client, which prints the objects that it has to standard output.
    pub fn spawn(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = Lines::of(child.stdout.take().context("standard output is a pipe")?, WITHIN);
        Ok(Self { child, lines, said: Vec::new(), is_over: false })
    }

    /// Reads its output until it has an object with this resource version.
    pub fn has(&mut self, version: &str) -> Result<()> {
        let has_word = |line: &str| line.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == version);
        self.read_until(has_word)
    }

    /// Reads its output until `is_it` has matched `times` further lines.
    pub fn wait_for_lines(&mut self, times: usize, is_it: impl Fn(&str) -> bool) -> Result<()> {
        (0..times).try_for_each(|_| self.read_until(&is_it))
    }

    /// Reads the rest of its output.
    pub fn read_to_end(&mut self) {
        // The only error is that the process has ended.
        self.read_until(|_| false).ok();
    }

    fn read_until(&mut self, is_it: impl Fn(&str) -> bool) -> Result<()> {
        let began = Instant::now();
        loop {
            // The client may print many other lines.
            ensure!(began.elapsed() < WITHIN, "not within {WITHIN:?}; {}", self.last_words());
            let Some(line) = self.lines.next_line().with_context(|| self.last_words())? else {
                self.is_over = true;
                bail!("it ended; {}", self.last_words())
            };
            let found = is_it(&line);
            self.said.push(line);
            if found {
                return Ok(());
            }
        }
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Its process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its exit status; `None` if its end has not been read yet.
    pub fn end(&mut self) -> Result<Option<String>> {
        if !self.is_over {
            return Ok(None);
        }
        Ok(Some(wait_within(&mut self.child, WITHIN)?.to_string()))
    }

    /// The requests that it attempted, from the output read so far.
    pub fn attempted(&self) -> RequestForms {
        RequestForms::attempted(&self.log())
    }

    /// The number of log lines with this `what` in the output read so far.
    pub fn count(&self, what: &str) -> usize {
        self.log().iter().filter(|line| line["what"] == what).count()
    }

    /// The errors in the output read so far, without addresses and digits, for messages.
    pub fn errors(&self) -> Vec<String> {
        let log = self.log();
        let errors = log.iter().filter_map(|line| line["error"].as_str());
        // `Get "https://…": why`
        let reasons = errors.map(|error| error.rsplit_once("\": ").map_or(error, |(_, reason)| reason));
        reasons.map(|reason| reason.chars().filter(|character| !character.is_ascii_digit()).collect()).collect()
    }

    /// Its JSON lines in the output read so far.
    pub fn log(&self) -> Vec<Value> {
        self.said.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn last_words(&self) -> String {
        const LINES: usize = 5;
        let last = self.said.get(self.said.len().saturating_sub(LINES)..).unwrap_or_default();
        format!("its last lines: {}", last.join(" / "))
    }
}

impl Drop for CacheProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
