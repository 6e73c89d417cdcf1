//! The loaded programs for uprobes, and how they are attached.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use aya_obj::generated::bpf_insn;
use observer_ebpf::AttachCookie;

use super::attach::{Attachment, Probe};
use super::attach_by::AttachBy;
use super::error::KernelError;
use super::instructions::{cookie_trial, empty_trial, fetch_trial, reads_cookie, replace_fetches, set_cookie};
use super::own_entry::{OWN_PROGRAM, own_entry};
use super::system_call::{Target, enable, link_event, link_places, load_program, open_event, set_program};

/// The number of the kind of event `uprobe`.
const KIND: &str = "/sys/bus/event_source/devices/uprobe/type";

/// The programs for uprobes.
pub(super) struct Uprobes {
    by: AttachBy,
    programs: HashMap<Probe, Program>,
    license: CString,
}

/// A program, loaded.
struct Program {
    loaded: OwnedFd,
    /// Its instructions, if each file gets a copy of it.
    to_copy: Option<Vec<bpf_insn>>,
}

impl Uprobes {
    /// Loads all programs, to be attached in the given way or else in the best one that works.
    pub(super) fn load(object: &aya_obj::Object, wanted: Option<AttachBy>) -> Result<Self, KernelError> {
        let license = object.license.clone();
        let by = wanted.map_or_else(|| chosen(&license), Ok)?;
        let has_fetch = loads("fetch_trial", &fetch_trial(), &license, Target::PerfEvent).is_ok();
        let mut programs = HashMap::new();
        for probe in Probe::ALL {
            let name = probe.program();
            let program = object.programs.get(name).ok_or(KernelError::Lacks(name))?;
            let function = object.functions.get(&program.function_key()).ok_or(KernelError::Lacks(name))?;
            let mut instructions = function.instructions.clone();
            if !has_fetch {
                replace_fetches(&mut instructions);
            }
            let to_copy = (by == AttachBy::EventCopies && reads_cookie(&instructions)).then(|| instructions.clone());
            if to_copy.is_some() {
                set_cookie(&mut instructions, 0);
            }
            programs.insert(probe, Program { loaded: loads(name, &instructions, &license, target(by))?, to_copy });
        }
        Ok(Self { by, programs, license })
    }

    /// How the programs are attached.
    pub(super) const fn by(&self) -> AttachBy {
        self.by
    }

    /// Attaches a program to places of a file, in all processes that run it.
    pub(super) fn attach(
        &self,
        probe: Probe,
        file: &Path,
        offsets: &[u64],
        cookie: AttachCookie,
    ) -> Result<Attachment, KernelError> {
        let name = probe.program();
        let refused = |source| KernelError::Attach { program: name, source };
        let path = CString::new(file.as_os_str().as_bytes()).map_err(|nul| refused(nul.into()))?;
        let Program { loaded, to_copy } = self.programs.get(&probe).ok_or(KernelError::Lacks(name))?;
        let Some(instructions) = to_copy else {
            return attach(self.by, loaded.as_fd(), &path, offsets, cookie.to_bits()).map_err(refused);
        };
        let mut instructions = instructions.clone();
        set_cookie(&mut instructions, cookie.to_bits());
        // The events keep the copy.
        let copy = loads(name, &instructions, &self.license, target(self.by))?;
        attach(self.by, copy.as_fd(), &path, offsets, cookie.to_bits()).map_err(refused)
    }

    /// The programs.
    pub(super) fn probes(&self) -> impl Iterator<Item = &Probe> {
        self.programs.keys()
    }
}

/// The best way that works here, tried with programs that do nothing.
fn chosen(license: &CStr) -> Result<AttachBy, KernelError> {
    let refusals = AttachBy::ALL.map(|by| match try_once(by, license) {
        Ok(()) => Ok(by),
        Err(error) => Err(format!("by {}: {error}", by.description())),
    });
    let mut why = Vec::new();
    for tried in refusals {
        match tried {
            Ok(by) => return Ok(by),
            Err(error) => why.push(error),
        }
    }
    Err(KernelError::NoUprobes(why.join("; ")))
}

fn try_once(by: AttachBy, license: &CStr) -> io::Result<()> {
    let entry = own_entry().ok_or_else(|| io::Error::other(format!("cannot find the entry point of {OWN_PROGRAM}")))?;
    let instructions: &[bpf_insn] = match by {
        AttachBy::MultiLink | AttachBy::EventLinks => &cookie_trial(),
        AttachBy::EventCopies => &empty_trial(),
    };
    let program = load_program("attach_trial", instructions, license, target(by)).map_err(|(error, _)| error)?;
    let file = CString::new(OWN_PROGRAM)?;
    // Detaches at once.
    attach(by, program.as_fd(), &file, &[entry], 0).map(drop)
}

fn attach(by: AttachBy, program: BorrowedFd<'_>, file: &CStr, offsets: &[u64], cookie: u64) -> io::Result<Attachment> {
    if by == AttachBy::MultiLink {
        return link_places(program, file, offsets, cookie).map(Attachment::by_link);
    }
    let kind = fs::read_to_string(KIND).map_err(|error| io::Error::new(error.kind(), format!("{KIND}: {error}")))?;
    let kind = kind.trim().parse().map_err(|_not_a_number| io::Error::other(format!("{KIND} is no number")))?;
    let attach_at = |offset: &u64| {
        let event = open_event(kind, file, *offset)?;
        let held = if by == AttachBy::EventLinks {
            let link = link_event(program, event.as_fd(), cookie)?;
            enable(event.as_fd())?;
            link
        } else {
            set_program(event.as_fd(), program)?;
            enable(event.as_fd())?;
            event
        };
        Ok(held)
    };
    // If one place is refused, the others are detached.
    offsets.iter().map(attach_at).collect::<io::Result<Vec<_>>>().map(Attachment::by_events)
}

const fn target(by: AttachBy) -> Target {
    match by {
        AttachBy::MultiLink => Target::MultiLink,
        AttachBy::EventLinks | AttachBy::EventCopies => Target::PerfEvent,
    }
}

fn loads(name: &'static str, instructions: &[bpf_insn], license: &CStr, target: Target) -> Result<OwnedFd, KernelError> {
    load_program(name, instructions, license, target).map_err(|(source, log)| KernelError::Load { program: name, source, log })
}
