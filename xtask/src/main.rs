//! The tasks of this workspace, called as `cargo xtask TASK`: one file or folder per task.
//!
//! The house rules are the tests in `tidy`, so `cargo test` finds them. No task uses a product crate (one of those rules).

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person or the CI that called it")]

mod architecture;
mod bench;
mod chart;
mod ci;
mod duration;
mod ebpf;
mod fuzz;
mod image;
mod instructions;
mod other_systems;
mod release;
mod remapping;
mod run;
mod soak;
mod standard_library;
mod steps;
mod test;
#[cfg(test)]
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// The tasks of the watchtap workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Task {
    Run(run::Args),
    Test(test::Args),
    Bench(bench::Args),
    Instructions(instructions::Args),
    Ebpf(ebpf::Args),
    Image(image::Args),
    Release(release::Args),
    Chart(chart::Args),
    Fuzz(fuzz::Args),
    Soak(soak::Args),
    OtherSystems(other_systems::Args),
    Ci(ci::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    match Task::parse() {
        Task::Run(args) => run::execute(&args),
        Task::Test(args) => test::execute(&args),
        Task::Bench(args) => bench::execute(&args),
        Task::Instructions(args) => instructions::execute(&args),
        Task::Ebpf(args) => ebpf::execute(&args),
        Task::Image(args) => image::execute(&args),
        Task::Release(args) => release::execute(&args),
        Task::Chart(args) => chart::execute(&args),
        Task::Fuzz(args) => fuzz::execute(&args),
        Task::Soak(args) => soak::execute(&args),
        Task::OtherSystems(args) => other_systems::execute(&args),
        Task::Ci(args) => ci::execute(&args),
    }
}
