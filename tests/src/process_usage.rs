//! Memory, descriptors and processor time of a running process, as the kernel counts them.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Memory, descriptors and processor time of one process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Resident memory in bytes: `Rss` of `/proc/PID/smaps_rollup`, which is counted page by page. `VmRSS` of `/proc/PID/status`
    /// sums per-CPU counters and may lag (proc(5)).
    pub resident: u64,
    /// The highest resident memory so far in bytes: `VmHWM` of `/proc/PID/status`.
    pub peak: u64,
    /// The part of `resident` that no file backs: heap and stacks.
    pub anonymous: u64,
    /// Open descriptors.
    pub descriptors: usize,
    /// Processor time of all threads so far, in steps of 10 ms.
    pub processor_time: Duration,
}

impl ProcessUsage {
    /// Reads the usage of a running process.
    pub fn of(process: u32) -> Result<Self> {
        let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        let descriptors = fs::read_dir(format!("/proc/{process}/fd"))?.count();
        Ok(Self {
            resident: bytes(&rollup, "Rss:")?,
            peak: bytes(&status, "VmHWM:")?,
            anonymous: bytes(&rollup, "Anonymous:")?,
            descriptors,
            processor_time: processor_time(&stat).with_context(|| format!("no times in {stat}"))?,
        })
    }
}

/// `utime` and `stime`, the 14th and 15th field of `/proc/PID/stat` (proc(5)). The second field is a name, which may contain any
/// character.
fn processor_time(stat: &str) -> Option<Duration> {
    /// `USER_HZ`, which is 100 on every Linux that Rust supports.
    const TICK: Duration = Duration::from_millis(10);
    let (_, behind_name) = stat.rsplit_once(')')?;
    let times: Vec<u32> = behind_name.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(TICK * times.iter().sum())
}

/// The value of a field with the form `Rss:      1234 kB`, in bytes.
fn bytes(rollup: &str, field: &str) -> Result<u64> {
    const KIBI: u64 = 1 << 10;
    let value = rollup.lines().find_map(|line| line.strip_prefix(field)).with_context(|| format!("no {field} in {rollup}"))?;
    let kibibytes: u64 = value.trim().trim_end_matches(" kB").parse().with_context(|| format!("{field} {value}"))?;
    Ok(kibibytes * KIBI)
}
