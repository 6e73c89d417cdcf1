//! `watchtap attach`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::attach_list::AttachList;
use super::flags::{Report, attach_folders};
use super::output::ReportFormat;
use super::shown::local_zone;
use crate::attach::{AttachedPage, Farewell, Kubectl, Link, LinkError, PodTarget, ReportForm, relay};
use crate::pod_layout;
use crate::printable::{Printable, print_error, print_message};
use crate::signals::SignalStream;
use crate::terminal::{Left, RunningPage, is_for_a_page};
use crate::view::Colour;

/// Time limit for the first answer of a run on this machine. Through kubectl there is none: it may ask its user to log in.
const ANSWER: Duration = Duration::from_secs(5);

/// A shell reports the end by a signal as 128 plus the signal's number.
const BY_SIGNAL: i32 = 128;

/// The exit code of a usage error, as that of clap.
const USAGE: u8 = 2;

/// Shows the live page of a watchtap that runs elsewhere: in another terminal, in the background, or in a pod.
///
/// Every run, exec, probe and demo can be attached, by its own user and by root, also with --quiet. Attached pages are independent:
/// each has its own tab, filter and size. q leaves the page; the run continues. A run without an attached page does no work for it.
///
/// Without a terminal, or with --report or --format, it prints the report of the run so far instead, and exits.
///
/// A pod needs the sidecar that `watchtap inject` adds. watchtap reaches it with kubectl (`kubectl exec`, so you need the right to
/// create pods/exec). Files that the page writes are written here, not in the pod.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap attach                            # the only run of yours on this machine
  watchtap attach --list
  watchtap attach 4711                       # the run with this process ID
  watchtap attach pod/my-controller-6d5f -n shop
  watchtap attach deployment/my-controller -n shop --context kind-dev
  watchtap attach --format json | jq .findings
  watchtap run --quiet --attach-socket /tmp/w.sock & watchtap attach --socket /tmp/w.sock

EXIT CODES:
  0      you left the page, the run ended, or the report is printed
  1      there is no such run, there are several, it is of another version,
         or the connection broke
  2      usage error
  128+n  signal n ended watchtap attach")]
pub(super) struct Attach {
    /// Process ID of a run on this machine, or a pod: NAME, pod/NAME, deployment/NAME
    #[arg(value_name = "PID|POD", value_parser = NonEmptyStringValueParser::new())]
    target: Option<String>,

    /// The run that listens at this socket (--attach-socket)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["target", "namespace", "context", "container"])]
    socket: Option<PathBuf>,

    /// Namespace of the pod [default: that of the context]
    #[arg(long, short, value_name = "NAME", requires = "target", help_heading = "Pod")]
    namespace: Option<String>,

    /// Context of the kubeconfig for kubectl [default: the current one]
    #[arg(long, value_name = "NAME", requires = "target", help_heading = "Pod")]
    context: Option<String>,

    /// Container of the pod with watchtap
    #[arg(long, value_name = "NAME", requires = "target", default_value = pod_layout::CONTAINER, help_heading = "Pod")]
    container: String,

    /// Write the report so far to a file, or to stdout for -, instead of showing the page
    #[arg(long, value_name = "FILE|-")]
    report: Option<PathBuf>,

    /// Print the report so far in this format; with --list, text or json
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,

    /// List the runs on this machine that can be attached
    #[arg(long, conflicts_with_all = ["target", "socket", "report", "namespace", "context", "container"])]
    list: bool,

    /// Pass bytes between standard streams and the socket, for `watchtap attach` on another machine
    #[arg(long, hide = true, requires = "socket", conflicts_with_all = ["report", "format"])]
    relay: bool,
}

/// A connection to a run, and what has to stay for it.
struct Reached {
    link: Link,
    kubectl: Option<Kubectl>,
}

impl Attach {
    pub(super) fn run(&self) -> ExitCode {
        if let Err(misused) = self.check() {
            print_error(&misused);
            return ExitCode::from(USAGE);
        }
        self.attach().unwrap_or_else(|error| {
            print_error(&error);
            ExitCode::FAILURE
        })
    }

    /// Refuses flags that would have no effect.
    fn check(&self) -> Result<()> {
        ensure!(!self.list || self.format != Some(ReportFormat::Markdown), "--list prints text or JSON (--format)");
        let is_for_pods = self.namespace.is_some() || self.context.is_some() || self.container != pod_layout::CONTAINER;
        if let Some(pid) = self.process().filter(|_| is_for_pods) {
            bail!(
                "{pid} is the process ID of a run on this machine, which has no namespace, context or container; name a pod pod/{pid}"
            );
        }
        Ok(())
    }

    /// The process ID of the run.
    fn process(&self) -> Option<u32> {
        self.target.as_ref()?.parse().ok()
    }

    fn attach(&self) -> Result<ExitCode> {
        if self.list {
            return AttachList::now(&attach_folders()).print(self.format.unwrap_or_default());
        }
        if self.relay {
            let socket = self.socket.as_deref().context("--relay needs --socket")?;
            return relay(socket).map(|()| ExitCode::SUCCESS).map_err(with_remedy);
        }
        if self.report.is_none() && self.format.is_none() && is_for_a_page() {
            return self.show();
        }
        // Opened before the run is asked, so that a file that cannot be written fails early.
        let report = Report::to(self.report.as_deref(), self.format.unwrap_or_default())?;
        let Some(Reached { link, kubectl }) = self.reach()? else { return Ok(ExitCode::FAILURE) };
        let coloured = report.colour() == Colour::On;
        let form = match report.format() {
            ReportFormat::Text => ReportForm::Text { coloured },
            ReportFormat::Json => ReportForm::Json,
            ReportFormat::Markdown => ReportForm::Markdown,
        };
        let text = link.report(form, limit(kubectl.as_ref())).map_err(|error| reason(error, kubectl))?;
        // What the run sent passes the gate here: its socket may be that of another program.
        report.write(&if coloured { Printable::lines_with_styles(&text) } else { Printable::lines(&text) })?;
        Ok(ExitCode::SUCCESS)
    }

    /// Connects to the run; `None` if there are several, which are printed.
    fn reach(&self) -> Result<Option<Reached>> {
        if let Some(socket) = &self.socket {
            return Ok(Some(Reached::at(Link::connect(socket).map_err(with_remedy)?)));
        }
        let folders = attach_folders();
        match self.target.as_deref().map(|target| self.process().ok_or(target)) {
            Some(Ok(pid)) => {
                let socket = folders.socket_of(pid).ok_or_else(|| {
                    anyhow!("no run of yours with process ID {pid} can be attached; `watchtap attach --list` lists those that can")
                })?;
                Ok(Some(Reached::at(Link::connect(&socket).map_err(with_remedy)?)))
            }
            Some(Err(pod)) => {
                let (kubectl, link) = Kubectl::start(PodTarget {
                    name: pod.to_owned(),
                    container: self.container.clone(),
                    namespace: self.namespace.clone(),
                    context: self.context.clone(),
                })?;
                Ok(Some(Reached { link, kubectl: Some(kubectl) }))
            }
            None => match &folders.find()[..] {
                [] => bail!(
                    "no run of yours on this machine can be attached. Start one in another terminal (`watchtap run --quiet`), or name \
                     a pod with a sidecar (`watchtap attach pod/NAME -n NAMESPACE`)"
                ),
                [only] => Ok(Some(Reached::at(Link::connect(&only.socket).map_err(with_remedy)?))),
                several => {
                    AttachList::of(several).print_choice()?;
                    Ok(None)
                }
            },
        }
    }

    /// Shows the page until the user leaves it, the run ends, or a signal arrives.
    fn show(&self) -> Result<ExitCode> {
        let Some(Reached { link, kubectl }) = self.reach()? else { return Ok(ExitCode::FAILURE) };
        let opened = AttachedPage::open(link, Colour::for_stdout(), local_zone().as_ref(), limit(kubectl.as_ref()));
        let (page, farewell) = match opened {
            Ok(opened) => opened,
            Err(error) => return Err(reason(error, kubectl)),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
        let _entered = runtime.enter();
        let mut signals = SignalStream::open().context("cannot listen for signals")?;
        let mut running = RunningPage::start(page).context("cannot show the page")?;
        let left = runtime.block_on(async {
            tokio::select! {
                left = running.left() => Ok(left),
                signal = signals.next_end() => Err(signal),
            }
        });
        // Restores the terminal, so that messages go to the ordinary screen.
        drop(running);
        let why = kubectl.and_then(Kubectl::failure);
        match (left, farewell.get()) {
            (Err(signal), _) => Ok(ExitCode::from(u8::try_from(BY_SIGNAL + signal).unwrap_or(u8::MAX))),
            (Ok(_), Some(Farewell::Refused(why))) => bail!("{why}"),
            (Ok(_), Some(Farewell::RunEnded)) => {
                print_message("the run has ended; its report is where it was started");
                Ok(ExitCode::SUCCESS)
            }
            (Ok(Left::Asked), None) => Ok(ExitCode::SUCCESS),
            (Ok(Left::Failed(error)), None) => bail!("the page stopped: {}", why.unwrap_or(error)),
        }
    }
}

impl Reached {
    const fn at(link: Link) -> Self {
        Self { link, kubectl: None }
    }
}

/// The time limit for the first answer.
fn limit(kubectl: Option<&Kubectl>) -> Option<Duration> {
    if kubectl.is_some() { None } else { Some(ANSWER) }
}

/// Why there is no answer. If kubectl failed, it has the reason.
fn reason(error: LinkError, kubectl: Option<Kubectl>) -> anyhow::Error {
    let is_gone = matches!(error, LinkError::Gone);
    match kubectl.filter(|_| is_gone).and_then(Kubectl::failure) {
        Some(why) => anyhow!(why),
        None => error.into(),
    }
}

/// Adds what the user can do.
fn with_remedy(error: LinkError) -> anyhow::Error {
    let remedy = matches!(error, LinkError::Unreachable { .. } | LinkError::NoSocket { .. });
    let error = anyhow::Error::from(error);
    if remedy { anyhow!("{error:#}; `watchtap attach --list` lists the runs that can be attached") } else { error }
}
