//! The command `watchtap explain`.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use observer_core::routing::ServerProfile;

use super::names::AnyWithNames;
use super::pasted::explain_stdin;
use super::request::{Asked, Flags};
use super::subject::{Subject, subject};
use crate::api_server::gates_without_effect;
use crate::cli::flags::ProfileFlags;
use crate::cli::output::{Format, is_of_closed_pipe};
use crate::printable::{Printable, print_error, print_message, stdout};
use crate::view::{Colour, Explained, explain_meaning, explain_proof, explain_request, explain_rule};

/// Explains, without a cluster, which layer of the API server answers a request, by which rule, and what it reads from etcd.
///
/// It also explains the names in reports: rules, proofs, causes of relists, and findings. With -, it explains lines of logs on stdin: the
/// program and the versions that write each, the request and the layer that answered, what the line proves, and what it cannot show.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap explain 'GET /api/v1/pods?limit=500' --server-version 1.34.2
  watchtap explain '/api/v1/pods?resourceVersion=0'
  watchtap explain 'https://10.0.0.1:6443/api/v1/pods?watch=true'
  watchtap explain kubectl get --raw '/api/v1/pods?limit=500'
  watchtap explain LIST pods
  watchtap explain WATCH deployments.apps -n default
  watchtap explain GET pods web-0 -n default
  watchtap explain 'LIST pods?limit=500' --server-version 1.31.0 --etcd-version 3.5.10
  watchtap explain 'WATCH pods?resourceVersion=0' --server-version 1.33.1 --gate WatchList=true
  watchtap explain 'PATCH /api/v1/namespaces/default/pods/web-0'

EXAMPLES OF NAMES:
  watchtap explain list-unset-consistent     a rule
  watchtap explain more-than-the-limit       a proof
  watchtap explain expired/no-bookmarks      a cause of relists (or `expired`, for all of them)
  watchtap explain deaf-watch                a finding, or its ID in a report

EXAMPLES OF LINES:
  grep -F 'Trace[1110288377]' kube-apiserver.log | watchtap explain -
  kubectl get pods -v=6 2>&1 >/dev/null | watchtap explain - --server-version 1.34.2
  watchtap explain - <<'END'
  W0620 12:33:17.389016 1 reflector.go:1] a.go:1: watch of *v1.Pod ended with: too old resource version: 1 (2)
  END

The host of a URL has no effect. Only built-in resources can be given by name; for others,
give the path. The output shows which layer answers in every version. With --server-version,
it first explains that version in detail.

EXIT CODES:
  0  everything was explained
  1  nothing could be explained
  2  usage error
  3  some lines on stdin were not recognised, or came after the first 500")]
pub(in crate::cli) struct Explain {
    /// A request (METHOD PATH, a path, a URL, kubectl get --raw PATH, or a verb and a resource), a name from a report, or - for lines of logs
    /// on stdin
    #[arg(value_name = "REQUEST|NAME|-", required = true, num_args = 1.., value_parser = AnyWithNames, hide_possible_values = true)]
    words: Vec<String>,

    /// Namespace of the resource, as in LIST pods -n default
    #[arg(short, long, value_name = "NAMESPACE", conflicts_with = "all_namespaces")]
    namespace: Option<String>,

    /// All namespaces, which is the default of LIST and WATCH
    #[arg(short = 'A', long)]
    all_namespaces: bool,

    /// Path of a pasted kubectl command
    #[arg(long, value_name = "PATH", hide = true)]
    raw: Option<String>,

    #[command(flatten)]
    profile: ProfileFlags,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Explain {
    pub(in crate::cli) fn run(&self) -> ExitCode {
        match self.execute() {
            Ok(code) => code,
            Err(error) if is_of_closed_pipe(&error) => ExitCode::SUCCESS,
            Err(error) => {
                print_error(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn execute(&self) -> Result<ExitCode> {
        let profile = self.profile.overrides().over(ServerProfile::default());
        for sentence in gates_without_effect(&profile) {
            print_message(sentence);
        }
        let flags = Flags { namespace: self.namespace.clone(), all_namespaces: self.all_namespaces, raw: self.raw.clone() };
        if matches!(self.words.as_slice(), [only] if only == "-") {
            ensure!(
                flags == Flags::default(),
                "-n, -A and --raw belong to a request, and lines on stdin have their own: leave them out"
            );
            return explain_stdin(&profile, self.format.into());
        }
        stdout().print(&self.explanation(flags, &profile)?)?;
        Ok(ExitCode::SUCCESS)
    }

    fn explanation(&self, flags: Flags, profile: &ServerProfile) -> Result<Printable> {
        let (format, colour) = (self.format.into(), Colour::for_stdout());
        Ok(match subject(&self.words, flags)? {
            Subject::Request(asked) => explain_request(&explained(&asked, profile)?, format, colour)?,
            Subject::Rule(rule) => explain_rule(rule, format, colour)?,
            Subject::Proof(proof) => explain_proof(proof, format, colour)?,
            Subject::Meaning(meaning) => explain_meaning(&meaning, format, colour)?,
        })
    }
}

fn explained(asked: &Asked, profile: &ServerProfile) -> Result<Explained> {
    let shown = asked.shown();
    Explained::of(&shown, &asked.info(), &asked.query, profile)
        .with_context(|| format!("`{shown}` reads or writes no object; only requests about stored objects can be explained"))
}
