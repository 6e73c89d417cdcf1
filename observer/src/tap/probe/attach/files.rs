//! The files that are probed, each once however many processes run it.

use std::io;
use std::path::Path;
use std::time::Instant;

use observer_ebpf::{AttachCookie, MAX_FILES};

use super::call_rate::CallRate;
use super::file_numbers::FileNumbers;
use super::file_table::{FileTable, Known};
use super::orders::Finding;
use super::plan::{Placement, field_placements, placements};
use crate::tap::probe::binary::{BinaryError, OpenSslProbePoints, Rustls, TlsLibrary, probe_points, read_program};
use crate::tap::probe::find::{FileIdentity, NeverProbed, OpenedFile, ProgramFile, now};
use crate::tap::probe::kernel::{Attachment, KernelError, Programs};
use crate::tap::probe::kernel_clock::kernels_now;

/// Why a file's connections are not seen, or not all of them.
#[derive(Debug, thiserror::Error)]
pub(in crate::tap::probe) enum NotProbed {
    /// The places for probes cannot be determined.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// The kernel refuses to probe it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The file cannot be opened.
    #[error("cannot open it: {0}")]
    Opening(#[from] io::Error),
    /// It contains rustls, which cannot be probed.
    #[error("{}", Rustls::OUT_OF_REACH)]
    Rustls,
    /// A function that carries plaintext cannot be probed.
    #[error("cannot probe {function}: {reason}")]
    Function { function: &'static str, reason: &'static str },
    /// The options exclude the file.
    #[error("it is among the files that are never probed")]
    Never,
    /// The probes would cost too much.
    #[error(
        "its TLS functions are called {rate} times a second, and probes may cost {budget} calls a second of one file; it is left alone for the rest \
         of this run, and its connections go on unseen"
    )]
    TooManyCalls {
        /// Calls per second.
        rate: u64,
        /// Calls per second allowed.
        budget: u32,
    },
    /// The probes for header fields would cost too much.
    #[error(
        "its functions for the header fields of HTTP/2 are called {rate} times a second, and probes may cost {budget} calls a second of one file; \
         header fields of connections from before the probe stay unknown for the rest of this run, and all else of them is seen"
    )]
    TooManyFieldCalls {
        /// Calls per second.
        rate: u64,
        /// Calls per second allowed.
        budget: u32,
    },
    /// [`MAX_FILES`] files are in use already.
    #[error("{MAX_FILES} files are probed that processes run, and no further one is")]
    TooMany,
}

/// The examined files, and the attachments to them.
#[derive(Debug)]
pub(in crate::tap::probe) struct ProbedFiles {
    never: NeverProbed,
    table: FileTable<ProbedFile>,
    numbers: FileNumbers,
    are_too_many: bool,
}

/// A probed file and its attachments.
#[derive(Debug)]
struct ProbedFile {
    attached: Vec<Attachment>,
    /// The file's number in the kernel.
    number: u16,
    /// Its path as seen by the process in which it was found.
    name: String,
    calls: CallRate,
    /// When it was probed, in clock ticks since boot.
    since: u64,
    /// Placements for header fields; empty if those turned out to cost too much.
    fields: Vec<Placement>,
    /// Their attachments, while they are wanted.
    attached_fields: Vec<Attachment>,
    /// Calls since they were attached.
    field_calls: CallRate,
}

impl ProbedFiles {
    pub(in crate::tap::probe) fn new(never: NeverProbed) -> Self {
        Self { never, table: FileTable::new(), numbers: FileNumbers::new(), are_too_many: false }
    }

    pub(in crate::tap::probe) fn never(&self) -> &NeverProbed {
        &self.never
    }

    /// Probes a file that a process runs, unless it is probed already. If its connections cannot be seen, that is reported once.
    pub(in crate::tap::probe) fn probe(&mut self, file: &ProgramFile, programs: &Programs, tell: &mut dyn FnMut(Finding)) {
        let now = Instant::now();
        let is_never = self.never.contains(file);
        match self.table.used(file.identity, now) {
            Some(Known::Never) => {}
            // A known file may be excluded under another name.
            Some(_) | None if is_never => {
                let former = self.table.insert(file.identity, Known::Never, now);
                self.detach(former, tell);
                tell(NotProbed::Never.of(&file.name));
            }
            Some(_) => {}
            None => self.probe_new(file, now, programs, tell),
        }
    }

    fn probe_new(&mut self, file: &ProgramFile, now: Instant, programs: &Programs, tell: &mut dyn FnMut(Finding)) {
        let Some(number) = self.number(now, tell) else {
            if !std::mem::replace(&mut self.are_too_many, true) {
                tell(NotProbed::TooMany.of(&file.name));
            }
            return;
        };
        let known = match probe(file, number, programs, &mut |why| tell(why.of(&file.name))) {
            Ok(known) => known,
            // Its process is gone, but another process may still run it.
            Err(error) if error.is_gone() => return self.numbers.give_back(number),
            Err(error) => {
                tell(error.of(&file.name));
                Known::Told
            }
        };
        if !matches!(known, Known::Probed(_)) {
            // Some of its places may have been probed for a moment.
            self.give_back(number, tell);
        }
        self.table.insert(file.identity, known, now);
    }

    /// Takes a number for a new file.
    fn number(&mut self, now: Instant, tell: &mut dyn FnMut(Finding)) -> Option<u16> {
        self.numbers.take().or_else(|| {
            let unused = self.table.make_room(now);
            self.detach(unused, tell);
            self.numbers.take()
        })
    }

    /// Stops probing files whose functions are called more than `budget` times a second. For the others, it stops only the header
    /// fields if their functions exceed the budget. Each case is reported once. Returns the files whose header fields were stopped.
    pub(in crate::tap::probe) fn leave_the_busy(
        &mut self,
        programs: &Programs,
        budget: u32,
        tell: &mut dyn FnMut(Finding),
    ) -> Vec<FileIdentity> {
        let now = Instant::now();
        let busy = self.table.leave(|probed| {
            let beyond = probed.calls.beyond(now, programs.calls(probed.number), budget);
            if let Some(rate) = beyond {
                tell(NotProbed::TooManyCalls { rate, budget }.of(&probed.name));
            }
            beyond.is_some()
        });
        self.detach(busy, tell);
        let mut without_fields = Vec::new();
        for (file, probed) in self.table.all_probed_mut().filter(|(_, probed)| !probed.attached_fields.is_empty()) {
            if let Some(rate) = probed.field_calls.beyond(now, programs.field_calls(probed.number), budget) {
                tell(NotProbed::TooManyFieldCalls { rate, budget }.of(&probed.name));
                probed.fields.clear();
                Attachment::end_all(std::mem::take(&mut probed.attached_fields));
                without_fields.push(file);
            }
        }
        without_fields
    }

    /// Stops probing files that no process has run for long and that their name no longer leads to: deleted files, and those of
    /// containers that are gone. A program that may be started again stays probed, since the first traffic of each new process
    /// would otherwise be missed.
    pub(in crate::tap::probe) fn leave_the_unused(&mut self, tell: &mut dyn FnMut(Finding)) {
        let is_there = |file, probed: &ProbedFile| FileIdentity::of(Path::new(&probed.name)) == Some(file);
        let unused = self.table.forget_unused(Instant::now(), is_there);
        self.detach(unused, tell);
    }

    fn detach(&mut self, files: impl IntoIterator<Item = ProbedFile>, tell: &mut dyn FnMut(Finding)) {
        let mut attachments = Vec::new();
        let mut numbers = Vec::new();
        for ProbedFile { attached, attached_fields, number, .. } in files {
            attachments.extend(attached);
            attachments.extend(attached_fields);
            numbers.push(number);
        }
        Attachment::end_all(attachments);
        for number in numbers {
            self.give_back(number, tell);
        }
    }

    /// Nothing is recorded of a file from here on. This is reported before another file may get its number, whose records are
    /// later.
    fn give_back(&mut self, number: u16, tell: &mut dyn FnMut(Finding)) {
        tell(Finding::Left { file: number, at: kernels_now() });
        self.numbers.give_back(number);
    }

    /// Whether header fields can be recorded for HTTP/2 connections of this file's processes.
    pub(in crate::tap::probe) fn tells_fields(&self, file: FileIdentity) -> bool {
        self.table.probed(file).is_some_and(|probed| !probed.fields.is_empty())
    }

    /// When a file was probed, as [`late::now`](now).
    pub(in crate::tap::probe) fn probed_since(&self, file: FileIdentity) -> Option<u64> {
        self.table.probed(file).map(|probed| probed.since)
    }

    /// Starts recording header fields.
    pub(in crate::tap::probe) fn probe_fields(&mut self, file: &ProgramFile, programs: &Programs) -> Result<(), NotProbed> {
        if let Some(probed) = self.table.probed_mut(file.identity)
            && probed.attached_fields.is_empty()
        {
            let opened = OpenedFile::of(file)?;
            probed.field_calls = CallRate::since(Instant::now(), programs.field_calls(probed.number));
            probed.attached_fields = attach(opened.path(), probed.number, &probed.fields, programs)?;
        }
        Ok(())
    }

    /// Stops recording header fields.
    pub(in crate::tap::probe) fn leave_fields(&mut self, file: FileIdentity) {
        if let Some(probed) = self.table.probed_mut(file) {
            Attachment::end_all(std::mem::take(&mut probed.attached_fields));
        }
    }

    /// How many files have their header fields recorded.
    pub(in crate::tap::probe) fn telling_fields(&self) -> usize {
        self.table.all_probed().filter(|probed| !probed.attached_fields.is_empty()).count()
    }
}

impl Drop for ProbedFiles {
    fn drop(&mut self) {
        let all = self.table.leave(|_| true);
        // The receiver of findings is gone.
        self.detach(all, &mut |_| {});
    }
}

impl NotProbed {
    /// Whether the file can no longer be reached through the process in which it was found.
    pub(in crate::tap::probe) fn is_gone(&self) -> bool {
        let Self::Opening(source) = self else { return false };
        source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ESRCH)
    }

    /// The finding that a file is not probed, or not all of it, for this reason.
    fn of(&self, file: &str) -> Finding {
        Finding::NotProbed { file: file.to_owned(), why: self.to_string() }
    }
}

/// Probes as much of a file as possible, if it contains anything; `left` gets the reasons for the rest.
fn probe(
    file: &ProgramFile,
    number: u16,
    programs: &Programs,
    left: &mut dyn FnMut(NotProbed),
) -> Result<Known<ProbedFile>, NotProbed> {
    let opened = OpenedFile::of(file)?;
    let libraries = probe_points(&read_program(opened.path())?)?;
    if libraries.is_empty() {
        return Ok(Known::Nothing);
    }
    let wanted: Vec<Placement> = libraries.iter().flat_map(placements).collect();
    // The number may have been another file's before.
    let calls = CallRate::since(Instant::now(), programs.calls(number));
    let attached = attach(opened.path(), number, &wanted, programs)?;
    libraries.iter().filter_map(out_of_reach).for_each(left);
    if attached.is_empty() {
        return Ok(Known::Told);
    }
    Ok(Known::Probed(ProbedFile {
        attached,
        number,
        name: file.name.clone(),
        calls,
        since: now(),
        fields: libraries.iter().flat_map(field_placements).collect(),
        attached_fields: Vec::new(),
        field_calls: CallRate::since(Instant::now(), programs.field_calls(number)),
    }))
}

/// Why some plaintext of a library is not seen. The functions that end a connection carry none.
pub(in crate::tap::probe) fn out_of_reach(library: &TlsLibrary) -> Option<NotProbed> {
    match library {
        TlsLibrary::GoCryptoTls(_) => None,
        TlsLibrary::Rustls(_) => Some(NotProbed::Rustls),
        TlsLibrary::OpenSsl(OpenSslProbePoints { refused, .. }) => {
            let mut lost = refused.iter().filter(|refused| !["SSL_free", "SSL_shutdown"].contains(&refused.function));
            lost.next().map(|refused| NotProbed::Function { function: refused.function, reason: refused.reason })
        }
    }
}

fn attach(file: &Path, number: u16, placements: &[Placement], programs: &Programs) -> Result<Vec<Attachment>, KernelError> {
    let attach = |Placement { probe, offsets, descriptor }: &Placement| {
        programs.attach(*probe, file, offsets, AttachCookie { file: number, descriptor: *descriptor })
    };
    placements.iter().map(attach).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A file without attachments.
    fn file(number: u16, now: Instant) -> ProbedFile {
        ProbedFile {
            attached: Vec::new(),
            number,
            name: format!("/usr/bin/program-{number}"),
            calls: CallRate::since(now, 0),
            field_calls: CallRate::since(now, 0),
            since: 0,
            fields: Vec::new(),
            attached_fields: Vec::new(),
        }
    }

    #[test]
    fn number_of_a_file_that_is_left_is_given_again_only_after_that_is_told() {
        let begin = Instant::now();
        let mut files = ProbedFiles::new(NeverProbed::of(&[]).unwrap());
        for inode in 0..u64::from(MAX_FILES) {
            let number = files.number(begin, &mut |finding| panic!("{finding:?}")).unwrap();
            let identity = FileIdentity { device: 1, inode, born: None };
            files.table.insert(identity, Known::Probed(file(number, begin)), begin + Duration::from_secs(inode));
        }
        assert_eq!(files.number(begin, &mut |finding| panic!("{finding:?}")), None, "all are in use");

        let (before, mut told) = (kernels_now(), Vec::new());
        let number = files.number(begin + Duration::from_mins(10), &mut |finding| told.push(finding)).unwrap();
        let after = kernels_now();
        let [Finding::Left { file, at }] = told[..] else { panic!("{told:?}") };
        assert_eq!(file, number, "the only one that is free is that of the file that was left");
        assert!((before..=after).contains(&at), "what is recorded of the next file is later than that");
    }
}
