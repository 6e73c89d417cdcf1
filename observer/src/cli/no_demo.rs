//! `watchtap demo` in a build without the feature `demo`: it is not in the help, and states why it does nothing.

use std::ffi::OsString;
use std::future::{Ready, ready};
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;

use super::follow::Follow;
use crate::error_chain;
use crate::printable::print_message;

/// Nothing among the examples.
pub(super) const EXAMPLE: &str = "";

const ABSENT: &str = "this build of watchtap has no demo; a build with the cargo feature `demo`, which is on by default, has it";

/// Reports that this build has no demo.
#[derive(Debug, Args)]
#[command(hide = true, disable_help_flag = true)]
pub(super) struct Demo {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<OsString>,
}

impl Demo {
    #[expect(clippy::unused_self, reason = "the demo of other builds has this method")]
    pub(super) fn run(&self) -> ExitCode {
        print_message(ABSENT);
        ExitCode::from(2)
    }
}

/// Fails, with the reason why there is no cluster to watch.
pub(super) fn play_instead(_follow: &Follow, why: &anyhow::Error) -> Ready<Result<ExitCode>> {
    ready(Err(anyhow!("no cluster to observe: {}; {ABSENT}", error_chain::in_words(why.as_ref()))))
}
