//! Uprobes that only count: `perf_event_open(2)`, which `perf stat` also uses for probes.

#![expect(unsafe_code, reason = "perf_event_open has no safe wrapper, and takes addresses")]

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context, Result};

/// Uprobes at offsets of a file, for every process that runs it. Dropping the value removes them.
pub(super) struct BareProbes {
    _events: Vec<OwnedFd>,
}

/// The first published part of `struct perf_event_attr` (Linux `include/uapi/linux/perf_event.h`, `PERF_ATTR_SIZE_VER1`), which
/// suffices here.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    /// For a uprobe: the address of the path.
    config1: u64,
    /// For a uprobe: the offset in the file.
    config2: u64,
}

impl BareProbes {
    /// Attaches uprobes at these offsets of the file, on each CPU.
    pub(super) fn at(file: &Path, places: &[u64]) -> Result<Self> {
        let kind = fs::read_to_string("/sys/bus/event_source/devices/uprobe/type").context("this kernel has no uprobes")?;
        let kind = kind.trim().parse()?;
        let path = CString::new(file.as_os_str().as_bytes())?;
        let mut events = Vec::new();
        for place in places {
            for cpu in 0..std::thread::available_parallelism()?.get() {
                events.push(
                    open(kind, &path, *place, i32::try_from(cpu)?)
                        .with_context(|| format!("no uprobe at {place:#x} of {}", file.display()))?,
                );
            }
        }
        Ok(Self { _events: events })
    }
}

fn open(kind: u32, path: &CString, place: u64, cpu: i32) -> io::Result<OwnedFd> {
    const EVERYBODY: i32 = -1;
    const NO_GROUP: i32 = -1;
    const CLOSE_ON_EXEC: u64 = 1 << 3;
    let attributes = Attributes {
        kind,
        size: u32::try_from(size_of::<Attributes>()).unwrap_or(u32::MAX),
        config1: path.as_ptr().addr() as u64,
        config2: place,
        ..Attributes::default()
    };
    // SAFETY: the attributes and the path outlive the call, which copies both; the other arguments are numbers.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, EVERYBODY, cpu, NO_GROUP, CLOSE_ON_EXEC) };
    let descriptor = i32::try_from(descriptor).map_err(io::Error::other)?;
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned this descriptor, and no one else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
