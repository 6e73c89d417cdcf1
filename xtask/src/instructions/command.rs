//! The command `cargo xtask instructions`: builds and counts the programs of both commits, and prints the result.

use std::process::ExitCode;

use super::acceptance::{TRAILER, acceptances};
use super::base::{self, Checkout};
use super::comparison::Comparison;
use super::counting::{self, Program};
use crate::workspace;

/// Count the instructions of decoding, following and forwarding, and compare them with those of an earlier commit.
///
/// Fails if one of the three needs over 3 % more instructions. A commit message can accept an increase with a trailer that has the
/// reason, such as `Instructions-accepted: decode +5 %: reason`. Needs valgrind. docs/benches.md describes the work that is
/// counted.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Commit to compare with [default: where the branch left main; on main, the commit before]
    #[arg(long, value_name = "COMMIT")]
    base: Option<String>,

    /// Number of times that each region is counted; the spread of the counts is printed
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

/// Returns a failure if an increase is too large and not accepted. If there is no commit to compare with, prints that, and returns
/// success.
pub(crate) fn execute(args: &Args) -> anyhow::Result<ExitCode> {
    let shell = workspace::shell()?;
    let base = match &args.base {
        Some(revision) => {
            Some(base::commit(&shell, revision).ok_or_else(|| anyhow::anyhow!("there is no commit `{revision}` here"))?)
        }
        None => base::usual(&shell),
    };
    let Some(base) = base else {
        println!("== instructions: left out, this clone has no commit to compare with");
        return Ok(ExitCode::SUCCESS);
    };
    let accepted = acceptances(&base::trailers(&shell, &base, TRAILER)?)?;
    std::fs::create_dir_all(counting::folder())?;
    let checkout = Checkout::of(&shell, &base)?;
    let Some(of_base) = Program::build(&checkout.root, "base")? else {
        println!("== instructions: left out, {base} has no program to count");
        return Ok(ExitCode::SUCCESS);
    };
    let of_head = Program::build(&workspace::root(), "head")?;
    let of_head = of_head.ok_or_else(|| anyhow::anyhow!("this commit has no program to count"))?;
    let counted = counting::count_all(&of_base, &of_head, args.runs)?;
    let comparison = Comparison { counted, accepted };
    print!("compared with {base}\n{comparison}");
    Ok(if comparison.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
