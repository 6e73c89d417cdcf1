//! A file that is probed, and how it comes to that.

use std::path::Path;
use std::time::Instant;

use observer_ebpf::AttachCookie;

use super::file_table::Known;
use super::not_probed::{NotProbed, out_of_reach};
use super::plan::{Placement, field_placements, placements};
use super::rate::Rate;
use crate::tap::probe::binary::{TlsLibrary, TlsSearch, read_program};
use crate::tap::probe::find::{FileIdentity, OpenedFile, ProgramFile, ticks_now};
use crate::tap::probe::kernel::{Attachment, KernelError, Programs};
use crate::tap::probe::recorded_work::RecordedWork;

/// A probed file and its attachments.
#[derive(Debug)]
pub(super) struct ProbedFile {
    pub(super) identity: FileIdentity,
    pub(super) attached: Vec<Attachment>,
    /// Whether all its plaintext is seen.
    pub(super) is_complete: bool,
    /// The file's number in the kernel.
    pub(super) number: u16,
    /// The file's path, as seen by the process in which it was found.
    pub(super) name: String,
    pub(super) calls: Rate,
    /// Recorded bytes of its connections, as [`RecordedWork`] counts them.
    pub(super) work: Rate,
    /// When it was probed, in clock ticks since boot.
    pub(super) since: u64,
    /// Placements for header fields; empty if the file has none, or if they turned out to cost too much.
    pub(super) fields: Vec<Placement>,
    /// Attachments of `fields`, while header fields are recorded.
    pub(super) attached_fields: Vec<Attachment>,
    /// Calls of the functions for header fields, since `attached_fields` were attached.
    pub(super) field_calls: Rate,
}

/// Probes as much of a file as possible, if it contains a TLS library. `left` receives the reason for each library that cannot be
/// probed completely.
pub(super) fn probe(
    file: &ProgramFile,
    number: u16,
    programs: &Programs,
    work: &RecordedWork,
    left: &mut dyn FnMut(NotProbed),
) -> Result<Known<ProbedFile>, NotProbed> {
    let opened = OpenedFile::of(file)?;
    let program = read_program(opened.path())?;
    let search = TlsSearch::of(&program)?;
    let mut libraries = search.probed()?;
    let wanted: Vec<Placement> = libraries.iter().flat_map(placements).collect();
    // The number may have been another file's before.
    let calls = Rate::since(Instant::now(), programs.calls(number));
    let work = Rate::since(Instant::now(), work.of(number));
    // Its process may send its first request in milliseconds, and the rest of the search reads the complete file.
    let attached = attach(opened.path(), number, &wanted, programs)?;
    let since = ticks_now();
    let unprobed = search.unprobed(&libraries)?;
    if libraries.is_empty() {
        return Ok(if unprobed.is_empty() { Known::Nothing } else { Known::Unprobed(unprobed) });
    }
    libraries.extend(unprobed.into_iter().map(TlsLibrary::Unprobed));
    let out_of_reach: Vec<NotProbed> = libraries.iter().filter_map(out_of_reach).collect();
    let is_complete = out_of_reach.is_empty();
    out_of_reach.into_iter().for_each(left);
    if attached.is_empty() {
        return Ok(Known::Reported);
    }
    Ok(Known::Probed(ProbedFile {
        identity: file.identity,
        attached,
        is_complete,
        number,
        name: file.name.clone(),
        calls,
        work,
        since,
        fields: libraries.iter().flat_map(field_placements).collect(),
        attached_fields: Vec::new(),
        field_calls: Rate::since(Instant::now(), programs.field_calls(number)),
    }))
}

pub(super) fn attach(
    file: &Path,
    number: u16,
    placements: &[Placement],
    programs: &Programs,
) -> Result<Vec<Attachment>, KernelError> {
    let attach = |Placement { probe, offsets, descriptor }: &Placement| {
        programs.attach(*probe, file, offsets, AttachCookie { file: number, descriptor: *descriptor })
    };
    placements.iter().map(attach).collect()
}
