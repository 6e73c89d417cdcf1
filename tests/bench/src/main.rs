//! The benches of watchtap, called by `cargo xtask bench`. They measure how fast watchtap decodes list bodies, follows events, reads
//! logs and forwards bytes. The results are ratios to other programs, measured alternately in one run. `docs/benches.md` has the results.

mod admission;
mod allocation;
mod credentials;
mod decode;
mod document;
#[cfg(target_os = "linux")]
mod first_requests;
mod following;
mod forward;
mod logs;
mod machine;
mod output;
#[cfg(all(feature = "pod", target_os = "linux"))]
mod pod;
#[cfg(target_os = "linux")]
mod probe_process;
#[cfg(target_os = "linux")]
mod probing;
mod server_process;
mod statistics;
mod table;

use std::process::ExitCode;

use clap::Parser;

/// The benches of watchtap; `cargo xtask bench` builds the programs that they need.
#[derive(Debug, Parser)]
#[command(name = "observer-bench")]
enum Bench {
    Decode(decode::Args),
    Following(following::Args),
    Logs(logs::Args),
    Forward(forward::Args),
    Watches(forward::WatchesArgs),
    Metrics(forward::MetricsArgs),
    Webhook(admission::Args),
    #[cfg(target_os = "linux")]
    Probing(probing::Args),
    #[cfg(target_os = "linux")]
    FirstRequests(first_requests::Args),
    #[cfg(all(feature = "pod", target_os = "linux"))]
    Pod(pod::Args),
    #[command(hide = true)]
    Allowing(admission::AllowingArgs),
    #[command(hide = true)]
    Upstream(forward::UpstreamArgs),
    #[command(hide = true)]
    Unobserved(forward::UnobservedArgs),
}

fn main() -> anyhow::Result<ExitCode> {
    match Bench::parse() {
        Bench::Decode(args) => decode::execute(&args)?,
        Bench::Following(args) => following::execute(&args)?,
        Bench::Logs(args) => logs::execute(&args)?,
        Bench::Forward(args) => forward::execute(&args)?,
        Bench::Watches(args) => forward::measure_watches(&args)?,
        Bench::Metrics(args) => forward::measure_metrics(&args)?,
        Bench::Webhook(args) => admission::execute(&args)?,
        Bench::Allowing(args) => admission::serve_allowing(&args)?,
        #[cfg(target_os = "linux")]
        Bench::Probing(args) => probing::execute(&args)?,
        #[cfg(target_os = "linux")]
        Bench::FirstRequests(args) => first_requests::execute(&args)?,
        #[cfg(all(feature = "pod", target_os = "linux"))]
        Bench::Pod(args) => pod::execute(&args)?,
        Bench::Upstream(args) => forward::serve_upstream(&args)?,
        Bench::Unobserved(args) => forward::serve_unobserved(&args)?,
    }
    Ok(ExitCode::SUCCESS)
}
