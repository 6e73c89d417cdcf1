//! `watchtap status`.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use clap::Args;

use super::flags::KubeconfigFlags;
use super::output::Format;
use crate::api_server::request::Conversations;
use crate::coverage::{Coverage, Scope, Standing, ask};
use crate::printable::{print_error, stdout};
use crate::view::{Colour, coverage_json, coverage_text};

/// The exit code if a pod has no sidecar that runs.
const WITHOUT: u8 = 3;

/// Shows which pods run with a sidecar, and why others do not.
///
/// It looks at the pods with the label watchtap.dev/inject=enabled: those that `watchtap webhook`, or the policy of `watchtap inject
/// --policy`, gives a sidecar when they are created. A pod without one was refused, was created while nothing answered, or has a
/// sidecar that does not start. Each has its reason.
///
/// It sends three requests, and only reads: a list of these pods, one of the webhooks and one of the policies. With resourceVersion=0,
/// the API server's watch cache answers each of them. So they cost etcd nothing, and the result may be some seconds old.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLES:
  watchtap status
  watchtap status -n shop --context kind-dev
  watchtap status -A --format json | jq '.pods[] | select(.counts == \"without\")'

EXIT CODES:
  0  every pod with the label has a sidecar that runs, or none has the label
  1  the pods could not be read
  2  usage error
  3  a pod that has not finished has no sidecar that runs")]
pub(super) struct Status {
    /// Namespace of the pods [default: that of the context]
    #[arg(long, short, value_name = "NAME", value_parser = namespace)]
    namespace: Option<Scope>,

    /// Pods of all namespaces
    #[arg(long, short = 'A', conflicts_with = "namespace")]
    all_namespaces: bool,

    #[command(flatten)]
    kubeconfig: KubeconfigFlags,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Status {
    pub(super) fn run(&self) -> ExitCode {
        match self.ask().and_then(|coverage| self.print(&coverage)) {
            Ok(code) => code,
            Err(error) => {
                print_error(&error);
                ExitCode::FAILURE
            }
        }
    }

    fn ask(&self) -> Result<Coverage> {
        let selected = self.kubeconfig.load()?.current()?;
        let scope = match &self.namespace {
            _ if self.all_namespaces => Scope::AllNamespaces,
            Some(scope) => scope.clone(),
            None => of_context(selected.namespace.as_deref())?,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start")?;
        runtime.block_on(ask(&Conversations::with(selected), scope))
    }

    fn print(&self, coverage: &Coverage) -> Result<ExitCode> {
        let text = match self.format {
            Format::Text => coverage_text(coverage, Colour::for_stdout()),
            Format::Json => coverage_json(coverage)?,
        };
        stdout().print(&text).context("cannot write the result")?;
        Ok(if coverage.number_of(Standing::Without) == 0 { ExitCode::SUCCESS } else { ExitCode::from(WITHOUT) })
    }
}

/// The namespace of a context; `default` if it names none, as for kubectl.
fn of_context(namespace: Option<&str>) -> Result<Scope> {
    let name = namespace.unwrap_or("default");
    Scope::namespace(name).ok_or_else(|| anyhow!("the context has the namespace {name}, which cannot be a name; pass --namespace"))
}

fn namespace(text: &str) -> Result<Scope, &'static str> {
    Scope::namespace(text).ok_or("expected a name of lower-case letters, digits and hyphens")
}
