//! The numbers of watchtap's own process, from proc(5). The meanings are those of `prometheus/client_golang`
//! (`prometheus/process_collector.go`).

use observer_core::series::ProcessNumbers;

/// The present numbers; `None` if proc(5) cannot be read.
#[cfg(target_os = "linux")]
pub(super) fn numbers() -> Option<ProcessNumbers> {
    use procfs::process::{LimitValue, Process};

    let process = Process::myself().ok()?;
    let stat = process.stat().ok()?;
    let micros = |ticks: u64| ticks.saturating_mul(1_000_000) / procfs::ticks_per_second().max(1);
    let boot = procfs::boot_time_secs().ok()?;
    Some(ProcessNumbers {
        cpu_us: micros(stat.utime.saturating_add(stat.stime)),
        started_us: boot.saturating_mul(1_000_000).saturating_add(micros(stat.starttime)),
        resident_bytes: stat.rss.saturating_mul(procfs::page_size()),
        virtual_bytes: stat.vsize,
        open_files: process.fd_count().ok().and_then(|count| u64::try_from(count).ok())?,
        most_files: match process.limits().ok()?.max_open_files.soft_limit {
            LimitValue::Value(limit) => limit,
            LimitValue::Unlimited => u64::MAX,
        },
    })
}

/// Other systems have no proc(5).
#[cfg(not(target_os = "linux"))]
pub(super) const fn numbers() -> Option<ProcessNumbers> {
    None
}
