//! The system calls that aya 0.14 does not make: loading a program for `uprobe_multi`, links with cookies, and perf events of
//! uprobes.

#![expect(unsafe_code, reason = "bpf(2) and perf_event_open(2) take addresses; aya 0.14 has no uprobe_multi")]

use std::ffi::CStr;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use aya_obj::generated::bpf_insn;

/// Commands, types and flags of `include/uapi/linux/bpf.h`, Linux 6.6.
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_PROG_TYPE_KPROBE: u32 = 2;
const BPF_PERF_EVENT: u32 = 41;
const BPF_TRACE_UPROBE_MULTI: u32 = 48;

/// Requests and flags of `include/uapi/linux/perf_event.h`, Linux 6.6. The type of a request is another one with musl than with glibc.
const PERF_EVENT_IOC_ENABLE: libc::Ioctl = 0x2400;
const PERF_EVENT_IOC_SET_BPF: libc::Ioctl = 0x4004_2408;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 8;

/// Maximum length of the verifier's log, in bytes.
const LOG_BYTES: usize = 64 << 10;

/// The part of `union bpf_attr` for `BPF_PROG_LOAD`.
#[repr(C)]
#[derive(Default)]
struct ProgramAttributes {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
}

/// The part of `union bpf_attr` for `BPF_LINK_CREATE` with `uprobe_multi`.
#[repr(C)]
#[derive(Default)]
struct LinkAttributes {
    prog_fd: u32,
    target_fd: u32,
    attach_type: u32,
    flags: u32,
    path: u64,
    offsets: u64,
    ref_ctr_offsets: u64,
    cookies: u64,
    cnt: u32,
    multi_flags: u32,
    pid: u32,
    padding: u32,
}

/// The part of `union bpf_attr` for `BPF_LINK_CREATE` with a perf event.
#[repr(C)]
#[derive(Default)]
struct EventLinkAttributes {
    prog_fd: u32,
    target_fd: u32,
    attach_type: u32,
    flags: u32,
    bpf_cookie: u64,
}

/// The part of `struct perf_event_attr` up to `config2` (`PERF_ATTR_SIZE_VER1`).
#[repr(C)]
#[derive(Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    uprobe_path: u64,
    probe_offset: u64,
}

/// The kernel object that a program will be attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    MultiLink,
    PerfEvent,
}

/// Loads a program for uprobes.
///
/// # Errors
///
/// The kernel's error, and the verifier's log.
pub(super) fn load_program(
    name: &str,
    instructions: &[bpf_insn],
    license: &CStr,
    target: Target,
) -> Result<OwnedFd, (io::Error, String)> {
    let attempt = |log: &mut [u8]| {
        let mut attributes = ProgramAttributes {
            prog_type: BPF_PROG_TYPE_KPROBE,
            insn_cnt: u32::try_from(instructions.len()).map_err(io::Error::other)?,
            insns: address(instructions.as_ptr()),
            license: address(license.as_ptr()),
            log_level: u32::from(!log.is_empty()),
            log_size: u32::try_from(log.len()).map_err(io::Error::other)?,
            log_buf: if log.is_empty() { 0 } else { address(log.as_mut_ptr()) },
            expected_attach_type: if target == Target::MultiLink { BPF_TRACE_UPROBE_MULTI } else { 0 },
            ..ProgramAttributes::default()
        };
        // The last byte stays 0.
        for (place, byte) in attributes.prog_name.iter_mut().take(15).zip(name.bytes()) {
            *place = byte;
        }
        // SAFETY: the addresses are those of `instructions`, `license` and `log`, which outlive the call, with their lengths.
        unsafe { bpf(BPF_PROG_LOAD, &mut attributes) }
    };
    attempt(&mut []).map_err(|error| {
        let mut log = vec![0; LOG_BYTES];
        // Tries again, to get the log.
        let _again = attempt(&mut log);
        let words = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().trim_end().to_owned();
        (error, words)
    })
}

/// Attaches a program to places of a file, in all processes that run it; each place gets the cookie.
///
/// # Errors
///
/// The kernel's error.
pub(super) fn link_places(program: BorrowedFd<'_>, file: &CStr, offsets: &[u64], cookie: u64) -> io::Result<OwnedFd> {
    let cookies = vec![cookie; offsets.len()];
    let mut attributes = LinkAttributes {
        prog_fd: number(program)?,
        attach_type: BPF_TRACE_UPROBE_MULTI,
        path: address(file.as_ptr()),
        offsets: address(offsets.as_ptr()),
        cookies: address(cookies.as_ptr()),
        cnt: u32::try_from(offsets.len()).map_err(io::Error::other)?,
        ..LinkAttributes::default()
    };
    // SAFETY: the addresses are those of `file`, `offsets` and `cookies`, which outlive the call, with their lengths.
    unsafe { bpf(BPF_LINK_CREATE, &mut attributes) }
}

/// Opens the perf event of a place in a file, for all processes. `kind` is the number of the kind of event `uprobe`.
///
/// # Errors
///
/// The kernel's error.
pub(super) fn open_event(kind: u32, file: &CStr, offset: u64) -> io::Result<OwnedFd> {
    let attributes = EventAttributes {
        kind,
        size: u32::try_from(size_of::<EventAttributes>()).map_err(io::Error::other)?,
        uprobe_path: address(file.as_ptr()),
        probe_offset: offset,
        ..EventAttributes::default()
    };
    // The kernel ignores the processor of an event of all processes; the programs run on every one.
    let (process, processor, group): (libc::c_long, libc::c_long, libc::c_long) = (-1, 0, -1);
    let attributes = std::ptr::from_ref(&attributes);
    // SAFETY: perf_event_open(2) reads `size` bytes of the attributes and the path in them, which outlive the call.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_perf_event_open, attributes, process, processor, group, PERF_FLAG_FD_CLOEXEC) };
    owned(descriptor)
}

/// Attaches a program to a perf event by a link that has a cookie. The link keeps the event.
///
/// # Errors
///
/// The kernel's error.
pub(super) fn link_event(program: BorrowedFd<'_>, event: BorrowedFd<'_>, cookie: u64) -> io::Result<OwnedFd> {
    let mut attributes = EventLinkAttributes {
        prog_fd: number(program)?,
        target_fd: number(event)?,
        attach_type: BPF_PERF_EVENT,
        flags: 0,
        bpf_cookie: cookie,
    };
    // SAFETY: there are no addresses.
    unsafe { bpf(BPF_LINK_CREATE, &mut attributes) }
}

/// Attaches a program to a perf event, which keeps the program.
///
/// # Errors
///
/// The kernel's error.
pub(super) fn set_program(event: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: this request takes a descriptor.
    done(unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_SET_BPF, program.as_raw_fd()) })
}

/// Makes a perf event run its program.
///
/// # Errors
///
/// The kernel's error.
pub(super) fn enable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: this request takes a number.
    done(unsafe { libc::ioctl(event.as_raw_fd(), PERF_EVENT_IOC_ENABLE, 0) })
}

fn number(descriptor: BorrowedFd<'_>) -> io::Result<u32> {
    u32::try_from(descriptor.as_raw_fd()).map_err(io::Error::other)
}

fn address<T>(pointer: *const T) -> u64 {
    pointer.addr() as u64
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// # Safety
///
/// `attributes` must be the part of `union bpf_attr` for `command`. All addresses in it must be valid for the lengths given with
/// them.
unsafe fn bpf<T>(command: libc::c_long, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: bpf(2) reads `size` bytes of the attributes and takes all beyond for zeros; the caller guarantees the rest.
    owned(unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) })
}

/// The descriptor that a system call has just returned, or its error.
fn owned(returned: libc::c_long) -> io::Result<OwnedFd> {
    match RawFd::try_from(returned) {
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}
