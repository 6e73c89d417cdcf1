//! Numbers that only the shell knows: those of its queues, of the probe's files and of its process.

use super::family::Family;
use super::label::{Label, LabelSet};
use super::samples::Samples;
use super::words::{AddressWord, SeenWord, SliceWord, TapWord};

/// Numbers that only the shell knows. A family for which it gives none has no samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellNumbers {
    /// This watchtap; `None` in tests.
    pub build: Option<Build>,
    /// Bytes that wait to be decoded.
    pub observing_queue_bytes: Option<u64>,
    /// Programs and libraries that a probe knows; `None` without a probe.
    pub probe_files: Option<ProbeFiles>,
    /// Addresses of API servers that a probe knows; `None` without a probe.
    pub probe_addresses: Option<ProbeAddresses>,
    /// This process, if its numbers can be read.
    pub process: Option<ProcessNumbers>,
}

/// This watchtap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// As `--version` prints it.
    pub version: String,
    /// The revision of its sources; empty if it is unknown.
    pub revision: String,
    /// The source of its observations.
    pub tap: TapWord,
}

/// Programs and libraries that a probe knows, by how much of their calls it sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeFiles {
    /// Files of which it sees all calls.
    pub all: u64,
    /// Files of which it sees some calls.
    pub part: u64,
    /// Files of which it sees no call.
    pub none: u64,
}

/// Addresses of API servers that a probe knows, and the requests by which it asked for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProbeAddresses {
    /// Followed addresses that their servers have.
    pub current: u64,
    /// Followed addresses that their servers no longer have.
    pub former: u64,
    /// Addresses that are not followed for lack of room.
    pub no_room: u64,
    /// Requests for the EndpointSlice that were answered with it.
    pub slice_read: u64,
    /// Those that were refused, or found none.
    pub slice_refused: u64,
    /// Those that had no answer, or one that may change soon.
    pub slice_failed: u64,
}

/// The metrics that all exporters have of their process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessNumbers {
    /// CPU time, user and system, in microseconds.
    pub cpu_us: u64,
    /// When it started, in microseconds since the epoch.
    pub started_us: u64,
    /// Resident memory.
    pub resident_bytes: u64,
    /// Virtual memory.
    pub virtual_bytes: u64,
    /// Open file descriptors.
    pub open_files: u64,
    /// Their limit.
    pub most_files: u64,
}

impl Family {
    /// Whether only the shell knows its numbers.
    pub(super) const fn is_of_the_shell(self) -> bool {
        matches!(
            self,
            Self::ObservingQueueBytes
                | Self::BuildInfo
                | Self::ProbeFiles
                | Self::ProbeAddresses
                | Self::ProbeSliceRequests
                | Self::ProcessCpu
                | Self::ProcessStart
                | Self::ProcessResidentMemory
                | Self::ProcessVirtualMemory
                | Self::ProcessOpenFiles
                | Self::ProcessMostFiles
                | Self::FamiliesLeftOut
        )
    }
}

impl Samples {
    /// Adds the numbers of the shell.
    #[must_use]
    pub fn with(mut self, shell: &ShellNumbers) -> Self {
        let ShellNumbers { build, observing_queue_bytes, probe_files, probe_addresses, process } = shell;
        let series = &mut self.series;
        let mut add = |family, labels: LabelSet, number| series.add(family, &labels, number);
        if let Some(bytes) = observing_queue_bytes {
            add(Family::ObservingQueueBytes, LabelSet::default(), *bytes);
        }
        if let Some(ProbeFiles { all, part, none }) = *probe_files {
            for (word, number) in [(SeenWord::All, all), (SeenWord::Part, part), (SeenWord::None, none)] {
                add(Family::ProbeFiles, LabelSet::of(Label::Seen, word.number()), number);
            }
        }
        if let Some(ProbeAddresses { current, former, no_room, slice_read, slice_refused, slice_failed }) = *probe_addresses {
            for (word, number) in [(AddressWord::Current, current), (AddressWord::Former, former), (AddressWord::NoRoom, no_room)] {
                add(Family::ProbeAddresses, LabelSet::of(Label::Address, word.number()), number);
            }
            for (word, number) in
                [(SliceWord::Read, slice_read), (SliceWord::Refused, slice_refused), (SliceWord::Failed, slice_failed)]
            {
                add(Family::ProbeSliceRequests, LabelSet::of(Label::Slice, word.number()), number);
            }
        }
        if let Some(ProcessNumbers { cpu_us, started_us, resident_bytes, virtual_bytes, open_files, most_files }) = *process {
            for (family, number) in [
                (Family::ProcessCpu, cpu_us),
                (Family::ProcessStart, started_us),
                (Family::ProcessResidentMemory, resident_bytes),
                (Family::ProcessVirtualMemory, virtual_bytes),
                (Family::ProcessOpenFiles, open_files),
                (Family::ProcessMostFiles, most_files),
            ] {
                add(family, LabelSet::default(), number);
            }
        }
        if let Some(Build { version, revision, tap }) = build {
            let labels = LabelSet::of(Label::Version, series.text(Label::Version, version))
                .with(Label::Revision, series.text(Label::Revision, revision))
                .with(Label::Tap, tap.number());
            series.raise_to(Family::BuildInfo, &labels, 1);
        }
        self
    }
}
