//! Remembers the files that were examined, so that each is read once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use observer_core::series::ProbeFiles;

use crate::tap::probe::binary::UnprobedLibrary;
use crate::tap::probe::find::FileIdentity;

/// A file may be forgotten if no process was seen to run it for this long; see [`FileTable::forget_unused`].
const UNUSED: Duration = Duration::from_mins(10);
/// A file that no process was seen to run for this long may make room for another: two examinations of all processes have not found it.
const IDLE: Duration = Duration::from_secs(10);
/// Maximum number of remembered files that are not probed; a machine has a few hundred.
const MOST_WITHOUT: usize = 16_384;

/// Files by their identity; `P` is the attachment to one.
#[derive(Debug)]
pub(super) struct FileTable<P> {
    files: HashMap<FileIdentity, Entry<P>>,
    most_without: usize,
}

#[derive(Debug)]
struct Entry<P> {
    /// When a process was last seen to run it.
    used: Instant,
    known: Known<P>,
}

/// The result of examining a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known<P> {
    /// It contains nothing for a probe.
    Nothing,
    /// It contains only libraries that cannot be probed. That is reported as soon as it matters.
    Unprobed(Vec<UnprobedLibrary>),
    /// It is not probed, which was reported.
    Reported,
    /// It is not probed for lack of descriptors or memory, which was reported. It may be tried again from this time on.
    Postponed(Instant),
    /// It is not probed, because the options exclude it.
    Excluded,
    /// It is probed, with this attachment.
    Probed(P),
}

impl<P> FileTable<P> {
    pub(super) fn new() -> Self {
        Self { files: HashMap::new(), most_without: MOST_WITHOUT }
    }

    /// The entry of a file that a process runs now.
    pub(super) fn used(&mut self, file: FileIdentity, now: Instant) -> Option<&Known<P>> {
        let entry = self.files.get_mut(&file)?;
        entry.used = now;
        Some(&entry.known)
    }

    /// The result of examining a file, if it is remembered.
    pub(super) fn known(&self, file: FileIdentity) -> Option<&Known<P>> {
        self.files.get(&file).map(|entry| &entry.known)
    }

    /// The attachment to a file.
    pub(super) fn probed(&self, file: FileIdentity) -> Option<&P> {
        self.files.get(&file)?.known.probed()
    }

    /// The attachment to a file, mutable.
    pub(super) fn probed_mut(&mut self, file: FileIdentity) -> Option<&mut P> {
        let Known::Probed(probed) = &mut self.files.get_mut(&file)?.known else { return None };
        Some(probed)
    }

    /// Enters a file that a process runs now. Returns the attachment that the file had before. If more than [`MOST_WITHOUT`] files
    /// are not probed, the least recently run of these files is forgotten.
    pub(super) fn insert(&mut self, file: FileIdentity, known: Known<P>, now: Instant) -> Option<P> {
        let former = self.files.insert(file, Entry { used: now, known });
        let without = || self.files.iter().filter(|(_, entry)| entry.known.probed().is_none());
        if without().count() > self.most_without
            && let Some(oldest) = without().min_by_key(|(_, entry)| entry.used).map(|(file, _)| *file)
        {
            self.files.remove(&oldest);
        }
        former.and_then(|former| former.known.into_probed())
    }

    /// All attachments.
    pub(super) fn all_probed(&self) -> impl Iterator<Item = &P> {
        self.files.values().filter_map(|entry| entry.known.probed())
    }

    /// How many files are probed, completely according to `is_complete` or in part. Files that are not probed count if that was
    /// reported and a process ran them within [`UNUSED`].
    pub(super) fn counts(&self, now: Instant, is_complete: impl Fn(&P) -> bool) -> ProbeFiles {
        let mut counts = ProbeFiles::default();
        for entry in self.files.values() {
            match &entry.known {
                Known::Probed(probed) if is_complete(probed) => counts.all += 1,
                Known::Probed(_) => counts.part += 1,
                Known::Reported | Known::Postponed(_) if now.duration_since(entry.used) < UNUSED => counts.none += 1,
                Known::Reported | Known::Postponed(_) | Known::Nothing | Known::Unprobed(_) | Known::Excluded => {}
            }
        }
        counts
    }

    /// All attachments, mutable.
    pub(super) fn all_probed_mut(&mut self) -> impl Iterator<Item = (FileIdentity, &mut P)> {
        self.files.iter_mut().filter_map(|(file, entry)| {
            let Known::Probed(probed) = &mut entry.known else { return None };
            Some((*file, probed))
        })
    }

    /// Marks probed files as reported if `is_over` is true; returns their attachments.
    pub(super) fn end_probing(&mut self, mut is_over: impl FnMut(&mut P) -> bool) -> Vec<P> {
        let mut ended = Vec::new();
        for entry in self.files.values_mut() {
            if let Known::Probed(probed) = &mut entry.known
                && is_over(probed)
            {
                ended.extend(std::mem::replace(&mut entry.known, Known::Reported).into_probed());
            }
        }
        ended
    }

    /// Forgets files that no process has run for [`UNUSED`]: those that contain nothing for a probe, if that was not reported, and
    /// probed files for which `is_there` is false. Returns the attachments of the probed ones. Reported and excluded files stay, so that they are not
    /// reported again.
    pub(super) fn forget_unused(&mut self, now: Instant, is_there: impl Fn(FileIdentity, &P) -> bool) -> Vec<P> {
        let is_over = |file: &FileIdentity, entry: &mut Entry<P>| {
            let is_unused = now.duration_since(entry.used) >= UNUSED;
            is_unused
                && match &entry.known {
                    Known::Nothing | Known::Unprobed(_) => true,
                    Known::Reported | Known::Postponed(_) | Known::Excluded => false,
                    Known::Probed(probed) => !is_there(*file, probed),
                }
        };
        self.files.extract_if(is_over).filter_map(|(_, entry)| entry.known.into_probed()).collect()
    }

    /// Forgets the probed file that was run least recently, to make room for another. `None` if all were run within [`IDLE`].
    pub(super) fn make_room(&mut self, now: Instant) -> Option<P> {
        let idle =
            |(_, entry): &(&FileIdentity, &Entry<P>)| entry.known.probed().is_some() && now.duration_since(entry.used) >= IDLE;
        let oldest = self.files.iter().filter(idle).min_by_key(|(_, entry)| entry.used).map(|(file, _)| *file)?;
        self.files.remove(&oldest)?.known.into_probed()
    }
}

impl<P> Known<P> {
    fn probed(&self) -> Option<&P> {
        if let Self::Probed(probed) = self { Some(probed) } else { None }
    }

    fn into_probed(self) -> Option<P> {
        if let Self::Probed(probed) = self { Some(probed) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(inode: u64) -> FileIdentity {
        FileIdentity { device: 1, inode, born: None }
    }

    #[test]
    fn least_recently_used_file_without_tls_is_evicted() {
        let (mut table, now) = (FileTable::<u16>::new(), Instant::now());
        table.most_without = 2;
        for second in 0..100 {
            table.insert(file(second), Known::Nothing, now + Duration::from_secs(second));
        }
        assert_eq!(table.files.len(), 2);
        table.insert(file(100), Known::Probed(7), now);
        assert_eq!((table.files.len(), table.probed(file(100))), (3, Some(&7)), "they take none of its room");
        assert_eq!(table.used(file(98), now + Duration::from_secs(100)), Some(&Known::Nothing));
        table.insert(file(101), Known::Reported, now + Duration::from_secs(101));
        assert_eq!(table.used(file(99), now), None, "the one unused for longest is forgotten");
        assert_eq!(table.used(file(98), now), Some(&Known::Nothing));
    }

    #[test]
    fn only_reported_excluded_and_present_probed_files_are_remembered() {
        let begin = Instant::now();
        for (known, is_there, expected) in [
            (Known::Nothing, false, (false, vec![])),
            (Known::Nothing, true, (false, vec![])),
            (Known::Unprobed(vec![UnprobedLibrary::Java]), true, (false, vec![])),
            (Known::Reported, false, (true, vec![])),
            (Known::Postponed(begin), false, (true, vec![])),
            (Known::Excluded, false, (true, vec![])),
            (Known::Probed(7), false, (false, vec![7])),
            (Known::Probed(7), true, (true, vec![])),
        ] {
            let case = format!("{known:?} {is_there}");
            let mut table = FileTable::new();
            table.insert(file(1), known, begin);
            let used = begin + Duration::from_secs(1);
            assert!(table.used(file(1), used).is_some());
            let almost = used + UNUSED.checked_sub(Duration::from_nanos(1)).unwrap();
            assert_eq!(table.forget_unused(almost, |_, _| is_there), [0; 0], "{case}");
            assert_eq!(table.files.len(), 1, "{case}");
            let forgotten = table.forget_unused(used + UNUSED, |_, _| is_there);
            assert_eq!((!table.files.is_empty(), forgotten), expected, "{case}");
        }
    }

    #[test]
    fn longest_unused_file_makes_room_but_none_in_use() {
        let (mut table, now) = (FileTable::new(), Instant::now());
        for number in [1, 2, 3] {
            table.insert(file(number), Known::Probed(number), now + Duration::from_secs(number));
        }
        let later = now + IDLE + Duration::from_secs(2);
        assert!(table.used(file(1), later).is_some());
        assert_eq!(table.make_room(later), Some(2));
        assert_eq!(table.make_room(later), None, "the others were run a moment ago");
        assert_eq!(table.all_probed().count(), 2);
    }

    #[test]
    fn files_are_counted_by_how_much_is_seen() {
        let (mut table, now) = (FileTable::new(), Instant::now());
        let without = [Known::Nothing, Known::Unprobed(vec![UnprobedLibrary::Java]), Known::Excluded, Known::Reported];
        let without = without.into_iter().chain([Known::Postponed(now)]);
        for (number, known) in (0..).zip(without.chain([1, 2, 3].map(Known::Probed))) {
            assert_eq!(table.insert(file(number), known, now), None);
        }
        assert_eq!(table.counts(now, |probed| *probed > 1), ProbeFiles { all: 2, part: 1, none: 2 });
        assert_eq!(table.counts(now + UNUSED, |probed| *probed > 1), ProbeFiles { all: 2, part: 1, none: 0 });
    }

    #[test]
    fn detached_file_stays_known() {
        let (mut table, now) = (FileTable::new(), Instant::now());
        table.insert(file(1), Known::Probed(1), now);
        table.insert(file(2), Known::Probed(2), now);
        assert_eq!(table.end_probing(|probed| *probed == 1), [1]);
        assert_eq!(table.used(file(1), now), Some(&Known::Reported));
        assert_eq!(table.probed(file(2)), Some(&2));
        assert_eq!(table.insert(file(2), Known::Excluded, now), Some(2));
    }
}
