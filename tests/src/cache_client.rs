//! Clients that keep a copy of the config maps of one namespace, each a process.

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

/// What takes longer than this to come about does not: client-go backs off to some thirty seconds, with jitter.
const WITHIN: Duration = Duration::from_mins(2);

/// Asked once: a client is named often.
static KUBECTL_VERSION: LazyLock<String> =
    LazyLock::new(|| kubectl_version().unwrap_or_else(|error| format!("of no known version ({error})")));

/// A client of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheClient {
    /// A shared informer.
    Informer(ClientGo, HttpVersion),
    /// A watcher of kube-rs with its usual backoff. It speaks HTTP/1.1 only.
    KubeRs,
    /// `kubectl get --watch`, which does not begin anew.
    Kubectl(HttpVersion),
}

/// The protocol that it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HttpVersion {
    /// 1.1.
    One,
    /// 2.
    Two,
}

/// In which form it lists, where it has the choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListForm {
    /// As it comes.
    #[default]
    Usual,
    /// A list, then a watch.
    Plain,
    /// A watch that begins with the objects there are.
    Streaming,
}

/// Its process; dropped, it is killed.
#[derive(Debug)]
pub struct CacheProcess {
    child: Child,
    lines: Lines,
    said: Vec<String>,
    /// It has closed its standard output.
    is_over: bool,
}

impl CacheClient {
    /// Each kind with each protocol that it has.
    pub fn all() -> Vec<Self> {
        let both = [HttpVersion::Two, HttpVersion::One];
        let informers = ClientGo::ALL.into_iter().flat_map(|release| both.map(|http| Self::Informer(release, http)));
        informers.chain([Self::KubeRs]).chain(both.map(Self::Kubectl)).collect()
    }

    /// Starts one in `namespace`.
    pub fn start(self, kubeconfig: &Path, namespace: &str) -> Result<CacheProcess> {
        let mut command = self.command(namespace)?;
        if let Self::Informer(..) = self {
            command.arg(self.to_string());
        }
        self.spawn(command, kubeconfig)
    }

    /// Starts one, a library and not kubectl, that calls itself `user_agent`.
    pub fn start_as(self, user_agent: &str, form: ListForm, kubeconfig: &Path, namespace: &str) -> Result<CacheProcess> {
        let mut command = self.command(namespace)?;
        command.arg(user_agent);
        match (self, form) {
            (_, ListForm::Usual) => {}
            // client-go features/envvar.go: a feature gate of client-go is a variable of the environment.
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
        // Found dead by a ping sooner than by the defaults of 30 and 15 s, where the client pings at all.
        command.env("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "5").env("HTTP2_PING_TIMEOUT_SECONDS", "5");
        command.env("KUBECONFIG", kubeconfig);
        CacheProcess::spawn(command).with_context(|| format!("cannot start {self}"))
    }

    /// Whether it lives through the end of its watch.
    pub fn begins_anew(self) -> bool {
        !matches!(self, Self::Kubectl(_))
    }

    /// Whether it can be told to ask for something else on its connections.
    pub fn asks_when_told(self) -> bool {
        matches!(self, Self::Informer(..))
    }

    /// Whether it notices a silent connection by its own pings: on HTTP/2, since client-go 0.20 and in late patches before it.
    pub fn pings(self) -> bool {
        matches!(self, Self::Informer(ClientGo::V0_18 | ClientGo::V0_26 | ClientGo::V0_37, HttpVersion::Two))
    }

    /// Which it speaks.
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
        };
        write!(formatter, "{name}, {http}")
    }
}

impl CacheProcess {
    /// Starts a client of another kind, which says on its standard output what it has.
    pub fn spawn(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let lines = Lines::of(child.stdout.take().context("standard output is a pipe")?, WITHIN);
        Ok(Self { child, lines, said: Vec::new(), is_over: false })
    }

    /// Reads on until it has an object in this version.
    pub fn has(&mut self, version: &str) -> Result<()> {
        let has_word = |line: &str| line.split(|character: char| !character.is_ascii_alphanumeric()).any(|word| word == version);
        self.read_until(has_word)
    }

    /// Reads on until it has said `what` so many times more.
    pub fn says(&mut self, times: usize, is_it: impl Fn(&str) -> bool) -> Result<()> {
        (0..times).try_for_each(|_| self.read_until(&is_it))
    }

    /// Reads what it has left to say.
    pub fn read_to_end(&mut self) {
        // It ends with the error that it has ended.
        self.read_until(|_| false).ok();
    }

    fn read_until(&mut self, is_it: impl Fn(&str) -> bool) -> Result<()> {
        let began = Instant::now();
        loop {
            // Of other things it may have much to say.
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

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    /// Its process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it was seen to.
    pub fn end(&mut self) -> Result<Option<String>> {
        if !self.is_over {
            return Ok(None);
        }
        Ok(Some(wait_within(&mut self.child, WITHIN)?.to_string()))
    }

    /// What it has tried as far as it was read.
    pub fn attempted(&self) -> RequestForms {
        RequestForms::attempted(&self.log())
    }

    /// How often it has said this, of what was read.
    pub fn count(&self, what: &str) -> usize {
        self.log().iter().filter(|line| line["what"] == what).count()
    }

    /// What it has said of what failed, of what was read, for people: without addresses and numbers.
    pub fn errors(&self) -> Vec<String> {
        let log = self.log();
        let errors = log.iter().filter_map(|line| line["error"].as_str());
        // `Get "https://…": why`
        let reasons = errors.map(|error| error.rsplit_once("\": ").map_or(error, |(_, reason)| reason));
        reasons.map(|reason| reason.chars().filter(|character| !character.is_ascii_digit()).collect()).collect()
    }

    /// What it has said in JSON, of what was read.
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
