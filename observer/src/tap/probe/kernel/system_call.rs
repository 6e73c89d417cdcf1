//! The two calls of bpf(2) that aya 0.14 does not make: loading a program for `uprobe_multi`, and creating its link.

#![expect(unsafe_code, reason = "bpf(2) takes addresses; aya 0.14 has no uprobe_multi")]

use std::ffi::{CStr, CString};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use aya_obj::generated::bpf_insn;

/// Commands, types and flags of `include/uapi/linux/bpf.h`, Linux 6.6.
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_PROG_TYPE_KPROBE: u32 = 2;
const BPF_TRACE_UPROBE_MULTI: u32 = 48;

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

/// Loads a program for a `uprobe_multi` link.
///
/// # Errors
///
/// The kernel's error, and the verifier's log.
pub(super) fn load_program(name: &str, instructions: &[bpf_insn], license: &CStr) -> Result<OwnedFd, (io::Error, String)> {
    let attempt = |log: &mut [u8]| {
        let mut attributes = ProgramAttributes {
            prog_type: BPF_PROG_TYPE_KPROBE,
            insn_cnt: u32::try_from(instructions.len()).map_err(io::Error::other)?,
            insns: address(instructions.as_ptr()),
            license: address(license.as_ptr()),
            log_level: u32::from(!log.is_empty()),
            log_size: u32::try_from(log.len()).map_err(io::Error::other)?,
            log_buf: if log.is_empty() { 0 } else { address(log.as_mut_ptr()) },
            expected_attach_type: BPF_TRACE_UPROBE_MULTI,
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
pub(super) fn attach_program(program: BorrowedFd<'_>, file: &CString, offsets: &[u64], cookie: u64) -> io::Result<OwnedFd> {
    let cookies = vec![cookie; offsets.len()];
    let mut attributes = LinkAttributes {
        prog_fd: u32::try_from(program.as_raw_fd()).map_err(io::Error::other)?,
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

fn address<T>(pointer: *const T) -> u64 {
    pointer.addr() as u64
}

/// # Safety
///
/// `attributes` must be the part of `union bpf_attr` for `command`. All addresses in it must be valid for the lengths given with
/// them.
unsafe fn bpf<T>(command: libc::c_long, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: bpf(2) reads `size` bytes of the attributes and takes all beyond for zeros; the caller guarantees the rest.
    let descriptor = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) };
    match RawFd::try_from(descriptor) {
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}
