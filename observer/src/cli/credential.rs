//! `watchtap credential`: the exec plugin that a client's copy of the kubeconfig names.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::credential::{Plan, ask_for_plan, hand_over};
use crate::exec_plugin::{EXEC_INFO, ExecCredential, with_cluster};
use crate::printable::{self, print_error};

/// Bytes of a plugin's output that are read at most. A credential has some 10 KiB.
const MAX_OUTPUT: u64 = 4 * 1024 * 1024;
/// Exit code of our own failures.
const FAILURE: u8 = 1;

/// Runs a user's exec plugin for a client behind watchtap. Kubeconfigs written by watchtap call it; do not call it by hand.
#[derive(Debug, Args)]
#[command(hide = true)]
pub(super) struct Credential {
    /// The private socket of the run
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,

    /// The user of the kubeconfig
    #[arg(last = true, required = true, value_name = "USER")]
    user: String,
}

impl Credential {
    pub(super) fn run(&self) -> ExitCode {
        match self.execute() {
            Ok(code) => ExitCode::from(code),
            Err(error) => {
                print_error(&error);
                ExitCode::from(FAILURE)
            }
        }
    }

    /// A failing plugin has printed the reason on standard error, and we exit with its code. There is no time limit: a plugin may
    /// wait for a person, and the client decides how long.
    fn execute(&self) -> Result<u8> {
        let info = std::env::var(EXEC_INFO).ok();
        let plan = ask_for_plan(&self.socket, &self.user, info.as_deref())?;
        let (status, output) = run(&plan, info.as_deref())?;
        if !status.success() {
            return Ok(code(status));
        }
        let output = match ExecCredential::with_certificate(&output) {
            Some(credential) => self.exchange(credential)?.into_bytes(),
            None => output,
        };
        printable::hand_over(&output).context("cannot pass on the credential")?;
        Ok(0)
    }

    fn exchange(&self, credential: ExecCredential) -> Result<String> {
        let handed = hand_over(&self.socket, &self.user, credential.certificate_pem(), credential.key_pem());
        let (certificate_pem, key_pem) = handed.context("the client certificate of the exec plugin")?;
        Ok(credential.replace(&certificate_pem, &key_pem))
    }
}

/// Runs the plugin with our terminal, standard error and environment. The client has added the kubeconfig's variables to the
/// environment.
fn run(plan: &Plan, info: Option<&str>) -> Result<(ExitStatus, Vec<u8>)> {
    let mut command = Command::new(&plan.command);
    command.args(&plan.arguments).stdout(Stdio::piped());
    if let Some(info) = plan.cluster.as_ref().zip(info).and_then(|(cluster, info)| with_cluster(info, cluster)) {
        command.env(EXEC_INFO, info);
    }
    let mut child = command.spawn().with_context(|| format!("cannot run the exec plugin {}", plan.command))?;
    let mut output = Vec::new();
    let read = child.stdout.take().context("no standard output")?.take(MAX_OUTPUT + 1).read_to_end(&mut output);
    if read.is_err() || u64::try_from(output.len()).is_ok_and(|length| length > MAX_OUTPUT) {
        // Its output pipe is closed now, so its next write would end it even without the signal.
        child.kill().and_then(|()| child.wait()).context("cannot stop the exec plugin")?;
        bail!("the exec plugin {} printed more than {MAX_OUTPUT} bytes, or could not be read", plan.command);
    }
    Ok((child.wait().context("cannot wait for the exec plugin")?, output))
}

/// The plugin's own exit code, or 128 plus the number of the signal that ended it.
fn code(status: ExitStatus) -> u8 {
    let by_signal = status.signal().and_then(|signal| signal.checked_add(128));
    status.code().or(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILURE)
}
