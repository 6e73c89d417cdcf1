//! The numbers of watchtap's own process, from proc(5). The meanings are those of `prometheus/client_golang`
//! (`prometheus/process_collector.go`).

use observer_core::series::ProcessNumbers;

/// When this process started, in microseconds since the epoch; `None` if proc(5) cannot be read. A later call may return another
/// time, because the kernel computes the time of its boot from the present wall clock.
#[cfg(target_os = "linux")]
pub(crate) fn started_us() -> Option<u64> {
    let stat = procfs::process::Process::myself().ok()?.stat().ok()?;
    let boot = procfs::boot_time_secs().ok()?;
    Some(boot.saturating_mul(1_000_000).saturating_add(micros(stat.starttime)))
}

/// The present numbers of the process, which started at `started_us`; `None` if proc(5) cannot be read.
#[cfg(target_os = "linux")]
pub(crate) fn numbers(started_us: u64) -> Option<ProcessNumbers> {
    use procfs::process::{LimitValue, Process};

    let process = Process::myself().ok()?;
    let stat = process.stat().ok()?;
    Some(ProcessNumbers {
        cpu_us: micros(stat.utime.saturating_add(stat.stime)),
        started_us,
        resident_bytes: stat.rss.saturating_mul(procfs::page_size()),
        virtual_bytes: stat.vsize,
        open_files: process.fd_count().ok().and_then(|count| u64::try_from(count).ok())?,
        most_files: match process.limits().ok()?.max_open_files.soft_limit {
            LimitValue::Value(limit) => limit,
            LimitValue::Unlimited => u64::MAX,
        },
    })
}

#[cfg(target_os = "linux")]
fn micros(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000) / procfs::ticks_per_second().max(1)
}

/// Other systems have no proc(5).
#[cfg(not(target_os = "linux"))]
pub(crate) const fn started_us() -> Option<u64> {
    None
}

/// Other systems have no proc(5).
#[cfg(not(target_os = "linux"))]
pub(crate) const fn numbers(_started_us: u64) -> Option<ProcessNumbers> {
    None
}
