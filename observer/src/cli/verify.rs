//! `watchtap verify`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use observer_core::routing::ServerProfile;
use observer_core::verification::{SHAPES, Shape, Tally};

use super::exec::OWN_FAILURE;
use super::flags::{KubeconfigFlags, ProfileFlags};
use super::output::Format;
use super::progress_line::ProgressLine;
use crate::api_server::gates_without_effect;
use crate::api_server::request::Conversations;
use crate::kubeconfig::Kubeconfig;
use crate::printable::{print_error, print_message, stdout};
use crate::verification::{Connect, LogTail, Oracles, Plan, Progress, Request, Server, Verification, verify};
use crate::view::{Colour, verification_json, verification_text};

/// Exit code if a row disagrees.
const DISAGREES: u8 = 1;
/// Exit code if no row disagrees, but some are inconclusive.
const INCONCLUSIVE: u8 = 2;

/// Checks the rules against a live API server: sends a request of every shape, and compares each verdict with the server's own counters.
///
/// It only reads: it sends lists, gets and short watches for one resource, and GET /metrics between them. First it prints how many
/// requests it will send, and how long they take. It chooses a resource with a few objects that no other client reads. If another
/// client reads it during a request, verify repeats that request.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap verify
  watchtap verify --context staging --resource widgets.example.com
  watchtap verify --format json > verify.json
  watchtap verify --etcd-log /var/log/etcd.log --audit-log /var/log/kubernetes/audit.log

EXIT CODES:
  0    all rows agree
  1    a row disagrees
  2    no row disagrees, but one has no result: other clients read the
       resource, too, or the request could not be made or was denied
  125  nothing could be verified, or usage error")]
pub(super) struct Verify {
    #[command(flatten)]
    kubeconfig: KubeconfigFlags,

    /// The resource to read, such as podtemplates or widgets.example.com (default: an idle one is chosen)
    #[arg(long, value_name = "RESOURCE")]
    resource: Option<String>,

    /// Only the shapes whose names contain this, such as `list, RV=N`; may be given several times
    #[arg(long = "shape", value_name = "TEXT")]
    shapes: Vec<String>,

    /// The API server's audit log, read as it grows; it shows the other readers of the resource
    #[arg(long, value_name = "FILE")]
    audit_log: Option<PathBuf>,

    /// etcd's log at level debug, read as it grows; it shows exactly which keys are read
    #[arg(long, value_name = "FILE")]
    etcd_log: Option<PathBuf>,

    #[command(flatten)]
    profile: ProfileFlags,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Verify {
    pub(super) fn run(&self) -> ExitCode {
        match self.verify().and_then(|verification| self.print(&verification)) {
            Ok(tally) => ExitCode::from(exit_code(tally)),
            Err(error) => {
                print_error(&error);
                ExitCode::from(OWN_FAILURE)
            }
        }
    }

    fn verify(&self) -> Result<Verification> {
        let kubeconfig = self.kubeconfig.load()?;
        let mut server = Server::new(connect(&kubeconfig)?);
        let oracles = Oracles {
            audit_log: self.audit_log.as_deref().map(LogTail::open).transpose()?,
            etcd_log: self.etcd_log.as_deref().map(LogTail::open).transpose()?,
        };
        let overrides = self.profile.overrides();
        let flags = |profile: ServerProfile| overrides.over(profile);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        let mut line = ProgressLine::default();
        let request = Request { resource: self.resource.as_deref(), shapes: self.shapes()?, flags: &flags, oracles };
        let verified = runtime.block_on(verify(&mut server, request, &mut |progress| show(&mut line, &progress)));
        line.end();
        let verification = verified?;
        for sentence in gates_without_effect(&verification.profile) {
            print_message(sentence);
        }
        Ok(verification)
    }

    fn shapes(&self) -> Result<Vec<&'static Shape>> {
        let is_wanted =
            |shape: &&Shape| self.shapes.is_empty() || self.shapes.iter().any(|text| shape.title.contains(text.as_str()));
        let wanted: Vec<&'static Shape> = SHAPES.iter().filter(is_wanted).collect();
        if wanted.is_empty() {
            let titles: Vec<&str> = SHAPES.iter().map(|shape| shape.title).collect();
            bail!("no shape has this in its name; the names are\n  {}", titles.join("\n  "));
        }
        Ok(wanted)
    }

    fn print(&self, verification: &Verification) -> Result<Tally> {
        let text = match self.format {
            Format::Text => {
                let colour = Colour::for_stdout();
                verification_text(verification, colour)
            }
            Format::Json => verification_json(verification)?,
        };
        stdout().print(&text).context("cannot write the result")?;
        Ok(verification.tally)
    }
}

fn exit_code(tally: Tally) -> u8 {
    match tally {
        Tally { disagree: 1.., .. } => DISAGREES,
        Tally { noisy: 1.., .. } | Tally { not_provoked: 1.., .. } => INCONCLUSIVE,
        Tally { .. } => 0,
    }
}

/// Connections with the credentials of the kubeconfig's user.
fn connect(kubeconfig: &Kubeconfig) -> Result<Connect> {
    let conversations = Arc::new(Conversations::with(kubeconfig.current()?));
    Ok(Box::new(move || {
        let conversations = Arc::clone(&conversations);
        Box::pin(async move { conversations.open().await })
    }))
}

fn show(line: &mut ProgressLine, progress: &Progress) {
    match progress {
        Progress::Choosing(quiet_for) => {
            print_message(format!("searching {} s for an idle resource", quiet_for.as_secs()));
        }
        Progress::Planned(plan) => print_message(planned(plan)),
        Progress::Row(index, of, title) => line.show(format_args!("{index}/{of}  {title}")),
    }
}

fn planned(plan: &Plan) -> String {
    const ROUNDED_TO: u64 = 5;
    let seconds = plan.takes.max(Duration::from_secs(1)).as_secs().next_multiple_of(ROUNDED_TO);
    format!(
        "reading {} in {} shapes: about {} requests, reads only, about {seconds} s; at most {} requests if other clients read \
         it, too",
        plan.resource, plan.shapes, plan.requests, plan.most_requests
    )
}
