//! Finds the containers and units of processes, also of processes that are gone when their records are taken.
//!
//! A live process is looked up in proc(5). The record of a process has the number of its cgroup, which is used if the process is
//! gone. This number is looked up among the folders of the file system cgroup2, since a container's cgroup outlives the commands
//! run in it. The log folders of the kubelet name pods and containers.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::DirEntryExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observer_core::observation::CgroupOwner;
use observer_ebpf::{Kind, NANOSECONDS_A_TICK, Opened, Record, Role};

use super::cgroup::mounted;
use super::pod_logs::PodLogs;
use crate::client_process::{Share, cgroups, mounts};

/// Maximum number of cgroups whose numbers are read in one scan. A node has a few thousand. Cgroups near the root come first, so
/// the cgroup of a container comes before those inside it.
const MAX_CGROUPS: usize = 65_536;
/// Minimum time between two scans. The lookup of an unknown number causes a scan.
const SCAN_EVERY: Duration = Duration::from_secs(1);
/// The part of the thread's time that scans take at most.
const SHARE: Share = Share::TWENTIETH;

/// Containers and units, by the numbers of their cgroups.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct Containers {
    /// The mount point of cgroups of version 2, and the part of the tree that is mounted there.
    mounted: Option<(PathBuf, PathBuf)>,
    /// All cgroups as of the last scan.
    by_number: HashMap<u64, Option<CgroupOwner>>,
    next_scan: Option<Instant>,
    pod_logs: PodLogs,
}

impl Containers {
    /// Scans and reads nothing before the first lookup. `pod_logs` is the folder with the logs of all pods, and `node` the name of
    /// this node.
    pub(in crate::tap::probe) fn new(pod_logs: PathBuf, node: String) -> Self {
        let mounted = mounted().into_iter().next().map(|place| (place.mount_point, PathBuf::from(place.root)));
        Self { mounted, pod_logs: PodLogs::new(pod_logs, node), ..Self::default() }
    }

    /// The owner of the client's cgroup, if a record opens a connection; `None` for a server and for other records.
    pub(in crate::tap::probe) fn of_record(&mut self, record: &Record, payload: &[u8]) -> Option<CgroupOwner> {
        if record.kind != Kind::Opened as u32 {
            return None;
        }
        self.of(record.connection.process, &Opened::read(payload)?, Instant::now())
    }

    /// The owner of the cgroup of a process that started at `started`; `None` if it is gone.
    pub(in crate::tap::probe) fn of_process(&mut self, process: u32, started: u64) -> Option<CgroupOwner> {
        let owner = CgroupOwner::of_process(&cgroups(process, started)?)?;
        Some(self.named(owner, process, started, Instant::now()))
    }

    /// Number of entries among the log folders of pods that no kubelet creates.
    pub(in crate::tap::probe) const fn other_log_folders(&self) -> u64 {
        self.pod_logs.other_entries()
    }

    fn of(&mut self, process: u32, opened: &Opened, now: Instant) -> Option<CgroupOwner> {
        if opened.role != Role::Client as u32 {
            return None;
        }
        let started = opened.started / NANOSECONDS_A_TICK;
        let owner = match cgroups(process, started) {
            Some(cgroups) => CgroupOwner::of_process(&cgroups)?,
            None => self.numbered(opened.cgroup, now)?,
        };
        Some(self.named(owner, process, started, now))
    }

    /// The owner of a process, with the names that log folders give to a container.
    fn named(&mut self, owner: CgroupOwner, process: u32, started: u64, now: Instant) -> CgroupOwner {
        match owner {
            CgroupOwner::Container(container) => {
                CgroupOwner::Container(self.pod_logs.named(container, now, || mounts(process, started)))
            }
            CgroupOwner::Unit(unit) => CgroupOwner::Unit(unit),
        }
    }

    fn numbered(&mut self, number: u64, now: Instant) -> Option<CgroupOwner> {
        if !self.by_number.contains_key(&number) && self.next_scan.is_none_or(|next| next <= now) {
            let began = Instant::now();
            self.by_number = self.mounted.as_ref().map(|(mounted, root)| numbers(mounted, root)).unwrap_or_default();
            self.next_scan = now.checked_add(SHARE.period(began.elapsed()).max(SCAN_EVERY));
        }
        self.by_number.get(&number)?.clone()
    }
}

/// The cgroups below a folder where `root` of their tree is mounted, by number.
fn numbers(mounted: &Path, root: &Path) -> HashMap<u64, Option<CgroupOwner>> {
    let mut found = HashMap::new();
    let mut folders = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_front() {
        // A folder that is gone meanwhile has no entries.
        for entry in fs::read_dir(mounted.join(&folder)).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if found.len() >= MAX_CGROUPS {
                return found;
            }
            let inside = folder.join(entry.file_name());
            found.insert(entry.ino(), CgroupOwner::of_cgroup(&root.join(&inside).to_string_lossy()));
            folders.push_back(inside);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use observer_core::k8s::{Container, Unnamed};
    use observer_ebpf::Endpoint;
    use tempfile::TempDir;

    use super::*;

    /// A folder tree in place of the cgroup file system; inodes serve as cgroup numbers.
    struct Tree {
        folder: TempDir,
        containers: Containers,
    }

    impl Tree {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mounted = Some((folder.path().to_owned(), PathBuf::from("/")));
            Self { folder, containers: Containers { mounted, ..Containers::default() } }
        }

        fn make(&self, path: &str) -> u64 {
            let folder = self.folder.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            fs::metadata(folder).unwrap().ino()
        }
    }

    fn container(id: &str) -> CgroupOwner {
        CgroupOwner::Container(nameless(id))
    }

    fn nameless(id: &str) -> Container {
        Container::nameless(id.repeat(64), "ab".repeat(16))
    }

    fn path(id: &str) -> String {
        format!("kubepods/besteffort/pod{}/{}", "ab".repeat(16), id.repeat(64))
    }

    #[test]
    fn container_is_found_by_its_own_and_nested_cgroups() {
        let mut tree = Tree::new();
        let (outer, inner) = (tree.make(&path("1")), tree.make(&(path("1") + "/init.scope")));
        let (other, none, unit) = (tree.make(&path("2")), tree.make("system.slice"), tree.make("system.slice/kubelet.service"));
        let kubelet = CgroupOwner::Unit("kubelet.service".to_owned());
        for (number, expected) in [
            (outer, Some(container("1"))),
            (inner, Some(container("1"))),
            (other, Some(container("2"))),
            (unit, Some(kubelet)),
            (none, None),
            (0, None),
        ] {
            assert_eq!(tree.containers.numbered(number, Instant::now()), expected, "{number}");
        }
    }

    #[test]
    fn new_cgroup_is_found_by_a_rate_limited_scan() {
        let mut tree = Tree::new();
        let start = Instant::now();
        let first = tree.make(&path("1"));
        assert_eq!(tree.containers.numbered(first, start), Some(container("1")));

        let second = tree.make(&path("2"));
        assert_eq!(tree.containers.numbered(second, start), None, "too early");
        assert_eq!(tree.containers.numbered(first, start), Some(container("1")), "a known one needs no scan");
        assert_eq!(tree.containers.numbered(second, start + Duration::from_hours(1)), Some(container("2")));
    }

    #[test]
    fn partial_cgroup_mount_is_named_by_its_root() {
        let mut tree = Tree::new();
        let number = tree.make("init.scope");
        let root = Path::new("/").join(path("1"));
        tree.containers.mounted = Some((tree.folder.path().to_owned(), root));
        assert_eq!(tree.containers.numbered(number, Instant::now()), Some(container("1")));
    }

    #[test]
    fn exited_client_is_found_by_its_cgroup_and_a_live_one_by_proc() {
        let mut tree = Tree::new();
        let cgroup = tree.make(&path("1"));
        let log_folders = tempfile::tempdir().unwrap();
        fs::create_dir_all(log_folders.path().join(format!("default_web-0_{}/app", "ab".repeat(16)))).unwrap();
        tree.containers.pod_logs = PodLogs::new(log_folders.path().to_owned(), String::new());
        let named = tree.containers.pod_logs.named(nameless("1"), Instant::now(), || None);
        assert_eq!((named.name.as_deref(), named.unnamed), (Some("app"), None::<Unnamed>));
        let named = CgroupOwner::Container(named);
        let own = procfs::process::Process::myself().unwrap().stat().unwrap().starttime;
        let owner = CgroupOwner::of_process(&cgroups(std::process::id(), own).unwrap());
        for (role, started, expected) in
            [(Role::Client, own + 1, Some(named)), (Role::Client, own, owner), (Role::Server, own + 1, None)]
        {
            let (started, role) = (started * NANOSECONDS_A_TICK, role as u32);
            let (local, remote) = (Endpoint::default(), Endpoint::default());
            let opened = Opened { socket: 1, cgroup, started, name: [0; 16], local, remote, role, file: 1 };
            assert_eq!(tree.containers.of(std::process::id(), &opened, Instant::now()), expected, "{opened:?}");
        }
    }
}
