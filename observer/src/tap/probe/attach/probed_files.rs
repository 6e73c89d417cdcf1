//! The files that are probed, each once however many processes run it.

use std::path::Path;
use std::time::{Duration, Instant};

use observer_core::observation::Process;
use observer_core::series::ProbeFiles;

use super::endings::Endings;
use super::excess_cause::{Cost, cause};
use super::file_numbers::FileNumbers;
use super::file_table::{FileTable, Known};
use super::not_probed::NotProbed;
use super::orders::Finding;
use super::probed_file::{ProbedFile, attach, probe};
use super::processor_use::Excess;
use super::rate::Rate;
use crate::tap::probe::find::{ExcludedFiles, FileIdentity, OpenedFile, ProgramFile};
use crate::tap::probe::kernel::{Attachment, Programs};
use crate::tap::probe::kernel_clock::kernels_now;
use crate::tap::probe::recorded_work::RecordedWork;

/// Minimum time after which a file is tried again that could not be probed for lack of descriptors or memory.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// The examined files, and the attachments to them.
#[derive(Debug)]
pub(in crate::tap::probe) struct ProbedFiles {
    excluded: ExcludedFiles,
    table: FileTable<ProbedFile>,
    numbers: FileNumbers,
    endings: Endings<Ending, Attachment>,
    are_too_many: bool,
    work: RecordedWork,
    /// Recorded bytes whose file is unknown.
    unassigned: Rate,
}

/// The end of a file's attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ending {
    file: FileIdentity,
    /// The file's number, which becomes free then; `None` if only the recording of header fields ends.
    number: Option<u16>,
}

impl ProbedFiles {
    pub(in crate::tap::probe) fn new(excluded: ExcludedFiles, work: RecordedWork) -> Self {
        let endings = Endings::start("probe-ends", Attachment::end_all);
        let unassigned = Rate::since(Instant::now(), work.unassigned());
        Self { excluded, table: FileTable::new(), numbers: FileNumbers::new(), endings, are_too_many: false, work, unassigned }
    }

    pub(in crate::tap::probe) fn excluded(&self) -> &ExcludedFiles {
        &self.excluded
    }

    /// Probes a file that a process runs, unless it is probed already. If its connections cannot be seen, that is reported once.
    pub(in crate::tap::probe) fn probe(&mut self, file: &ProgramFile, programs: &Programs, report: &mut dyn FnMut(Finding)) {
        let work = self.work.clone();
        self.probe_by(file, Instant::now(), report, |number, left| probe(file, number, programs, &work, left));
    }

    /// As [`Self::probe`]; `attach` gets the number of a new file, and reports why parts of it cannot be probed.
    fn probe_by(
        &mut self,
        file: &ProgramFile,
        now: Instant,
        report: &mut dyn FnMut(Finding),
        attach: impl FnOnce(u16, &mut dyn FnMut(NotProbed)) -> Result<Known<ProbedFile>, NotProbed>,
    ) {
        let is_excluded = self.excluded.contains(file);
        match self.table.used(file.identity, now) {
            Some(Known::Excluded) => {}
            // A known file may be excluded under another name.
            Some(_) | None if is_excluded => {
                let former = self.table.insert(file.identity, Known::Excluded, now);
                self.detach(former);
                report(NotProbed::Excluded.of(&file.name));
            }
            Some(Known::Postponed(until)) if *until <= now => self.probe_new(file, now, true, report, attach),
            Some(_) => {}
            None => self.probe_new(file, now, false, report, attach),
        }
    }

    fn probe_new(
        &mut self,
        file: &ProgramFile,
        now: Instant,
        is_postponed: bool,
        report: &mut dyn FnMut(Finding),
        attach: impl FnOnce(u16, &mut dyn FnMut(NotProbed)) -> Result<Known<ProbedFile>, NotProbed>,
    ) {
        // Two attachments to one place would record each call twice.
        self.endings.wait_for(|ending| ending.file == file.identity);
        let Some(number) = self.number(now, report) else {
            if !std::mem::replace(&mut self.are_too_many, true) {
                report(NotProbed::TooMany.of(&file.name));
            }
            return;
        };
        let known = match attach(number, &mut |why| report(why.of(&file.name))) {
            Ok(known) => known,
            // Its process is gone, but another process may still run it.
            Err(error) if error.is_gone() => return self.numbers.give_back(number),
            Err(error) if error.is_shortage() => {
                if !is_postponed {
                    report(NotProbed::Shortage(Box::new(error)).of(&file.name));
                }
                Known::Postponed(now + TRY_AGAIN)
            }
            Err(error) => {
                report(error.of(&file.name));
                Known::Reported
            }
        };
        if !matches!(known, Known::Probed(_)) {
            // Some places in the file may have been probed for a moment.
            self.give_back(number, report);
        }
        self.table.insert(file.identity, known, now);
    }

    /// The files of a process that contain only libraries that cannot be probed, and are not reported yet. Empty if the process also
    /// runs a file that is probed or excluded: its connections may use that one.
    pub(super) fn unprobed<'f>(&self, files: &'f [ProgramFile]) -> Vec<&'f ProgramFile> {
        let known = |file: &&ProgramFile| self.table.known(file.identity);
        if files.iter().any(|file| matches!(known(&file), Some(Known::Probed(_) | Known::Excluded))) {
            return Vec::new();
        }
        files.iter().filter(|file| matches!(known(file), Some(Known::Unprobed(_)))).collect()
    }

    /// Reports, once for each file, that a client is not seen.
    pub(super) fn report_client(&mut self, file: &ProgramFile, client: &Process, report: &mut dyn FnMut(Finding)) {
        let Some(Known::Unprobed(libraries)) = self.table.known(file.identity) else { return };
        for library in libraries {
            report(Finding::UnprobedClient { file: file.name.clone(), why: library.reason(), client: client.clone() });
        }
        // The file had no attachment.
        let _none = self.table.insert(file.identity, Known::Reported, Instant::now());
    }

    /// Takes a number for a new file.
    fn number(&mut self, now: Instant, report: &mut dyn FnMut(Finding)) -> Option<u16> {
        self.take_ended(report);
        self.numbers.take().or_else(|| {
            let unused = self.table.make_room(now)?;
            let file = unused.identity;
            self.detach([unused]);
            self.endings.wait_for(|ending| ending.file == file);
            self.take_ended(report);
            self.numbers.take()
        })
    }

    /// Releases the numbers of files whose attachments have ended.
    pub(super) fn take_ended(&mut self, report: &mut dyn FnMut(Finding)) {
        for number in self.endings.take_finished().into_iter().filter_map(|ending| ending.number) {
            self.give_back(number, report);
        }
    }

    /// Counts the calls of all probed functions, and what was recorded of them.
    pub(super) fn count_calls(&mut self, programs: &Programs) {
        let now = Instant::now();
        self.unassigned.add(now, self.work.unassigned());
        for (_, probed) in self.table.all_probed_mut() {
            probed.calls.add(now, programs.calls(probed.number));
            probed.work.add(now, self.work.of(probed.number));
            if !probed.attached_fields.is_empty() {
                probed.field_calls.add(now, programs.field_calls(probed.number));
            }
        }
    }

    /// Stops probing files whose functions are called more than `budget` times a second. In other files, it stops only the
    /// recording of header fields, if the functions for header fields exceed the budget. Each case is reported once. Returns the
    /// files whose recording of header fields was stopped in this way.
    pub(in crate::tap::probe) fn detach_busy(&mut self, budget: u32, report: &mut dyn FnMut(Finding)) -> Vec<FileIdentity> {
        let busy = self.table.end_probing(|probed| {
            let beyond = probed.calls.beyond(budget);
            if let Some(rate) = beyond {
                report(NotProbed::TooManyCalls { rate, budget }.of(&probed.name));
            }
            beyond.is_some()
        });
        self.detach(busy);
        let Self { table, endings, .. } = self;
        let mut without_fields = Vec::new();
        for (file, probed) in table.all_probed_mut().filter(|(_, probed)| !probed.attached_fields.is_empty()) {
            if let Some(rate) = probed.field_calls.beyond(budget) {
                report(NotProbed::TooManyFieldCalls { rate, budget }.of(&probed.name));
                probed.fields.clear();
                endings.end(Ending { file, number: None }, std::mem::take(&mut probed.attached_fields));
                without_fields.push(file);
            }
        }
        without_fields
    }

    /// Stops probing the file that is most probably the cause of the excess, if there is one, and reports that.
    pub(super) fn detach_cause(&mut self, excess: Excess, report: &mut dyn FnMut(Finding)) {
        let cost =
            |probed: &ProbedFile| Cost { file: probed.identity, calls: probed.calls.per_second(), work: probed.work.per_second() };
        let costs: Vec<Cost> = self.table.all_probed().map(cost).collect();
        let Some(cause) = cause(excess, &costs, self.unassigned.per_second()) else { return };
        let over = self.table.end_probing(|probed| {
            let is_it = probed.identity == cause.file;
            if is_it {
                let Excess { taken, budget } = excess;
                report(NotProbed::TooMuchProcessor { taken, budget, rate: cause.calls, bytes: cause.work }.of(&probed.name));
            }
            is_it
        });
        self.detach(over);
    }

    /// Stops probing files that are no longer found at their path, after a long time in which no process ran them. These are
    /// deleted files, and files of containers that are gone. A program that may be started again stays probed, since the first
    /// traffic of each new process would otherwise be missed.
    pub(in crate::tap::probe) fn detach_unused(&mut self) {
        let is_there = |file, probed: &ProbedFile| FileIdentity::of(Path::new(&probed.name)) == Some(file);
        let unused = self.table.forget_unused(Instant::now(), is_there);
        self.detach(unused);
    }

    /// Begins to end all attachments of files.
    fn detach(&mut self, files: impl IntoIterator<Item = ProbedFile>) {
        for ProbedFile { identity, mut attached, attached_fields, number, .. } in files {
            attached.extend(attached_fields);
            self.endings.end(Ending { file: identity, number: Some(number) }, attached);
        }
    }

    /// Releases the number of a file of which nothing is recorded from now on. Reports this before another file can get the number,
    /// so that all records of the other file are later.
    fn give_back(&mut self, number: u16, report: &mut dyn FnMut(Finding)) {
        report(Finding::Detached { file: number, at: kernels_now() });
        self.numbers.give_back(number);
    }

    /// Whether header fields can be recorded for HTTP/2 connections of this file's processes.
    pub(in crate::tap::probe) fn has_fields(&self, file: FileIdentity) -> bool {
        self.table.probed(file).is_some_and(|probed| !probed.fields.is_empty())
    }

    /// When a file was probed, as [`ticks_now`].
    pub(in crate::tap::probe) fn probed_since(&self, file: FileIdentity) -> Option<u64> {
        self.table.probed(file).map(|probed| probed.since)
    }

    /// Starts recording header fields.
    pub(in crate::tap::probe) fn probe_fields(&mut self, file: &ProgramFile, programs: &Programs) -> Result<(), NotProbed> {
        if let Some(probed) = self.table.probed_mut(file.identity)
            && probed.attached_fields.is_empty()
        {
            let opened = OpenedFile::of(file)?;
            self.endings.wait_for(|ending| ending.file == file.identity);
            probed.field_calls = Rate::since(Instant::now(), programs.field_calls(probed.number));
            probed.attached_fields = attach(opened.path(), probed.number, &probed.fields, programs)?;
        }
        Ok(())
    }

    /// Stops recording header fields.
    pub(in crate::tap::probe) fn stop_fields(&mut self, file: FileIdentity) {
        if let Some(probed) = self.table.probed_mut(file) {
            let attached = std::mem::take(&mut probed.attached_fields);
            if !attached.is_empty() {
                self.endings.end(Ending { file, number: None }, attached);
            }
        }
    }

    /// How many files are probed, completely or in part, and how many are not.
    pub(in crate::tap::probe) fn counts(&self, now: Instant) -> ProbeFiles {
        self.table.counts(now, |probed| probed.is_complete)
    }

    /// Number of files whose header fields are recorded.
    pub(in crate::tap::probe) fn recording_fields(&self) -> usize {
        self.table.all_probed().filter(|probed| !probed.attached_fields.is_empty()).count()
    }
}

impl Drop for ProbedFiles {
    fn drop(&mut self) {
        let all = self.table.end_probing(|_| true);
        // They end with the value.
        self.detach(all);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use observer_ebpf::MAX_FILES;

    use super::*;
    use crate::tap::probe::binary::UnprobedLibrary;
    use crate::tap::probe::kernel::KernelError;

    /// A file without attachments.
    fn file(identity: FileIdentity, number: u16, now: Instant) -> ProbedFile {
        ProbedFile {
            identity,
            attached: Vec::new(),
            is_complete: true,
            number,
            name: format!("/usr/bin/program-{number}"),
            calls: Rate::since(now, 0),
            work: Rate::since(now, 0),
            field_calls: Rate::since(now, 0),
            since: 0,
            fields: Vec::new(),
            attached_fields: Vec::new(),
        }
    }

    fn program(inode: u64) -> ProgramFile {
        let identity = FileIdentity { device: 1, inode, born: None };
        ProgramFile { identity, path: "/proc/1/exe".into(), name: format!("/usr/bin/program-{inode}") }
    }

    #[test]
    fn unprobed_file_is_reported_once_if_no_other_file_may_have_the_connections() {
        let now = Instant::now();
        let mut files = ProbedFiles::new(ExcludedFiles::of(&[]).unwrap(), RecordedWork::none());
        let [unprobed, nothing, probed, excluded, unknown] = [1, 2, 3, 4, 5].map(program);
        for (program, known) in [
            (&unprobed, Known::Unprobed(vec![UnprobedLibrary::Java])),
            (&nothing, Known::Nothing),
            (&probed, Known::Probed(file(probed.identity, 1, now))),
            (&excluded, Known::Excluded),
        ] {
            files.table.insert(program.identity, known, now);
        }
        for (other, expected) in [(&nothing, 1), (&unknown, 1), (&probed, 0), (&excluded, 0)] {
            let of_process = [other.clone(), unprobed.clone()];
            assert_eq!(files.unprobed(&of_process).len(), expected, "{other:?}");
        }
        let client = Process::new(7, 100, "java".to_owned());
        let mut findings = Vec::new();
        for _ in 0..2 {
            files.report_client(&unprobed, &client, &mut |finding| findings.push(finding));
        }
        let why = UnprobedLibrary::Java.reason();
        assert_eq!(findings, [Finding::UnprobedClient { file: unprobed.name.clone(), why, client }]);
        assert!(files.unprobed(&[unprobed]).is_empty());
    }

    #[test]
    fn file_without_room_for_descriptors_is_tried_again_and_reported_once() {
        let begin = Instant::now();
        let mut files = ProbedFiles::new(ExcludedFiles::of(&[]).unwrap(), RecordedWork::none());
        let program = program(1);
        let refused = |number| {
            let source = io::Error::from_raw_os_error(number);
            NotProbed::Kernel(KernelError::Attach { program: "ssl_read", source })
        };
        let (mut attempts, mut reports) = (Vec::new(), Vec::new());
        for (second, error) in [
            (0, Some(libc::EMFILE)),
            (5, Some(libc::EMFILE)),
            (10, Some(libc::ENOMEM)),
            (20, Some(libc::ENFILE)),
            (30, None),
            (60, None),
        ] {
            let now = begin + Duration::from_secs(second);
            let mut report = |finding| {
                if let Finding::NotProbed { why, .. } = finding {
                    reports.push(why);
                }
            };
            files.probe_by(&program, now, &mut report, |number, _| {
                attempts.push(second);
                error.map_or_else(|| Ok(Known::Probed(file(program.identity, number, now))), |error| Err(refused(error)))
            });
        }
        assert_eq!(attempts, [0, 10, 20, 30]);
        assert!(matches!(&reports[..], [why] if why.contains("as soon as there are enough file descriptors")), "{reports:?}");
        assert!(files.table.probed(program.identity).is_some());
    }

    #[test]
    fn file_that_the_kernel_refuses_is_not_tried_again() {
        let begin = Instant::now();
        let mut files = ProbedFiles::new(ExcludedFiles::of(&[]).unwrap(), RecordedWork::none());
        let mut attempts = 0;
        for second in [0, 60] {
            files.probe_by(&program(1), begin + Duration::from_secs(second), &mut |_| {}, |_, _| {
                attempts += 1;
                Err(NotProbed::Opening(io::ErrorKind::PermissionDenied.into()))
            });
        }
        assert_eq!(attempts, 1);
    }

    #[test]
    fn number_of_a_detached_file_is_reused_only_after_the_report() {
        let begin = Instant::now();
        let mut files = ProbedFiles::new(ExcludedFiles::of(&[]).unwrap(), RecordedWork::none());
        for inode in 0..u64::from(MAX_FILES) {
            let number = files.number(begin, &mut |finding| panic!("{finding:?}")).unwrap();
            let identity = FileIdentity { device: 1, inode, born: None };
            files.table.insert(identity, Known::Probed(file(identity, number, begin)), begin + Duration::from_secs(inode));
        }
        assert_eq!(files.number(begin, &mut |finding| panic!("{finding:?}")), None, "all are in use");

        let (before, mut findings) = (kernels_now(), Vec::new());
        let number = files.number(begin + Duration::from_mins(10), &mut |finding| findings.push(finding)).unwrap();
        let after = kernels_now();
        let [Finding::Detached { file, at }] = findings[..] else { panic!("{findings:?}") };
        assert_eq!(file, number, "only that of the detached file is free");
        assert!((before..=after).contains(&at), "records of the next file are later");
    }
}
