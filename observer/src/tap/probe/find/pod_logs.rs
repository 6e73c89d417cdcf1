//! Names of pods and containers, from the log folders of the kubelet.
//!
//! The kubelet creates `NAMESPACE_NAME_UID/CONTAINER` for the logs of a container before it starts the container (`startContainer`
//! and `createPodSandbox` of kubernetes/kubernetes pkg/kubelet/kuberuntime, 1.34.4). So the folders name every client in a pod, and
//! neither the API server nor the kubelet is asked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use observer_core::k8s::{Container, Pod, Unnamed};

use super::container_name::container_name;
use super::pod_log_folder::pod_of_folder;
use crate::client_process::Share;
use crate::dns_label::is_dns_label;

/// Maximum number of entries read of one folder. A node has some hundred pods at most; folders of deleted pods stay for a minute.
const MAX_ENTRIES: usize = 4_096;
/// Maximum number of containers whose names are remembered, and of those that are missing. A full table is cleared.
const MAX_CONTAINERS: usize = 4_096;
/// Minimum time between two lookups of one container that has no name yet.
const AGAIN: Duration = Duration::from_secs(1);
/// The part of the time that reading the folder of all pods takes at most.
const SHARE: Share = Share::TWENTIETH;

/// The log folders of pods, and the names that were found in them.
#[derive(Debug, Default)]
pub(super) struct PodLogs {
    folder: PathBuf,
    /// The name of this node, with which names of static pods end.
    node: String,
    /// Pods by UID, as of the last reading; `None` for a UID that several folders have.
    pods: HashMap<String, Option<Pod>>,
    next_reading: Option<Instant>,
    /// Names of containers by ID.
    containers: HashMap<String, String>,
    /// Containers without a name, and when they are looked up again.
    nameless: HashMap<String, (Unnamed, Instant)>,
    /// Entries of the folder that no kubelet creates, as of the last reading.
    other_entries: u64,
}

impl PodLogs {
    pub(super) fn new(folder: PathBuf, node: String) -> Self {
        Self { folder, node, ..Self::default() }
    }

    /// The container with the names that are known of it. `mounts` reads the `/proc/PID/mountinfo` of a process in it; `None` if
    /// that is gone.
    pub(super) fn named(&mut self, container: Container, now: Instant, mounts: impl FnOnce() -> Option<String>) -> Container {
        let pod = match self.pod(&container, now) {
            Ok(pod) => pod,
            Err(unnamed) => return Container { unnamed: Some(unnamed), ..container },
        };
        let found = self.name(&container, &pod, now, mounts);
        Container { pod: Some(pod), unnamed: found.as_ref().err().copied(), name: found.ok(), ..container }
    }

    /// Number of entries of the folder that no kubelet creates. They are ignored.
    pub(super) const fn other_entries(&self) -> u64 {
        self.other_entries
    }

    fn pod(&mut self, container: &Container, now: Instant) -> Result<Pod, Unnamed> {
        if !self.pods.contains_key(&container.pod_uid) {
            self.may_look(container, now)?;
            if let Err(unnamed) = self.read(now) {
                return Err(self.note(container, unnamed, now));
            }
        }
        match self.pods.get(&container.pod_uid) {
            Some(Some(pod)) => Ok(pod.clone()),
            Some(None) => Err(Unnamed::SeveralLogFolders),
            None => Err(self.note(container, Unnamed::NoLogFolder, now)),
        }
    }

    /// Reads the folder of all pods, unless that was done too recently.
    fn read(&mut self, now: Instant) -> Result<(), Unnamed> {
        if self.next_reading.is_some_and(|next| now < next) {
            return Err(Unnamed::LogFoldersUnread);
        }
        let began = Instant::now();
        let found = folders(&self.folder);
        self.next_reading = now.checked_add(SHARE.period(began.elapsed()));
        self.pods.clear();
        self.other_entries = 0;
        for name in found.map_err(|_error| Unnamed::LogFoldersUnread)? {
            match name.and_then(|name| pod_of_folder(&name, &self.node)) {
                Some((pod, uid)) => match self.pods.entry(uid) {
                    Entry::Vacant(place) => _ = place.insert(Some(pod)),
                    Entry::Occupied(mut place) => _ = place.insert(None),
                },
                None => self.other_entries = self.other_entries.saturating_add(1),
            }
        }
        Ok(())
    }

    fn name(
        &mut self,
        container: &Container,
        pod: &Pod,
        now: Instant,
        mounts: impl FnOnce() -> Option<String>,
    ) -> Result<String, Unnamed> {
        if let Some(name) = self.containers.get(&container.id) {
            return Ok(name.clone());
        }
        self.may_look(container, now)?;
        let folder = self.folder.join(format!("{}_{}_{}", pod.namespace, pod.name, container.pod_uid));
        let Ok(entries) = folders(&folder) else { return Err(self.note(container, Unnamed::LogFoldersUnread, now)) };
        let names: Vec<String> = entries.into_iter().flatten().filter(|name| is_dns_label(name)).collect();
        match chosen(names, || container_name(&mounts()?, &container.pod_uid).map(str::to_owned)) {
            Ok(name) => {
                if self.containers.len() >= MAX_CONTAINERS {
                    self.containers.clear();
                }
                self.containers.insert(container.id.clone(), name.clone());
                Ok(name)
            }
            Err(unnamed) => Err(self.note(container, unnamed, now)),
        }
    }

    /// Whether the names of a container may be looked up now; otherwise, the reason why they are still unknown.
    fn may_look(&self, container: &Container, now: Instant) -> Result<(), Unnamed> {
        match self.nameless.get(&container.id) {
            Some((unnamed, next)) if now < *next => Err(*unnamed),
            Some(_) | None => Ok(()),
        }
    }

    /// Notes why the names of a container are unknown.
    fn note(&mut self, container: &Container, unnamed: Unnamed, now: Instant) -> Unnamed {
        if self.nameless.len() >= MAX_CONTAINERS {
            self.nameless.clear();
        }
        if let Some(next) = now.checked_add(AGAIN) {
            self.nameless.insert(container.id.clone(), (unnamed, next));
        }
        unnamed
    }
}

/// The container that a process is in, of those with a log folder. A single one must be it, because its folder is older than its
/// processes. Otherwise, `shown` is the name in the mounts of the process.
fn chosen(names: Vec<String>, shown: impl FnOnce() -> Option<String>) -> Result<String, Unnamed> {
    match <[String; 1]>::try_from(names) {
        Ok([name]) => Ok(name),
        Err(names) if names.is_empty() => Err(Unnamed::NoContainerFolder),
        Err(names) => shown().filter(|shown| names.contains(shown)).ok_or(Unnamed::SeveralContainers),
    }
}

/// The names of the folders in a folder; `None` for an entry that is no folder, or whose name is no text.
fn folders(folder: &Path) -> io::Result<Vec<Option<String>>> {
    let of_entry = |entry: fs::DirEntry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        entry.file_name().into_string().ok().filter(|_| is_folder)
    };
    fs::read_dir(folder)?.take(MAX_ENTRIES).map(|entry| entry.map(of_entry)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use tempfile::TempDir;

    use super::*;

    const UID: &str = "5f1b2c3d-0a1b-4c5d-8e9f-001122334455";
    const OTHER: &str = "00000000-0000-4000-8000-000000000000";

    /// Log folders on a disk of their own.
    struct Node {
        folder: TempDir,
        logs: PodLogs,
        now: Instant,
    }

    impl Node {
        fn new(folders: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let logs = PodLogs::new(folder.path().to_owned(), "node-1".to_owned());
            let node = Self { folder, logs, now: Instant::now() };
            for name in folders {
                node.make(name);
            }
            node
        }

        fn make(&self, name: &str) {
            fs::create_dir_all(self.folder.path().join(name.replace("UID", UID))).unwrap();
        }

        /// The names of a container, or the reason why they are unknown.
        fn name(&mut self, id: &str, mounts: Option<&str>) -> String {
            self.name_in(UID, id, mounts)
        }

        fn name_in(&mut self, uid: &str, id: &str, mounts: Option<&str>) -> String {
            let mounts = || mounts.map(|root| format!("1 2 3 {root} /x rw - ext4 /y rw\n").replace("UID", UID));
            let container = Container::nameless(id.to_owned(), uid.to_owned());
            let Container { pod, name, unnamed, .. } = self.logs.named(container, self.now, mounts);
            let pod = pod.map(|pod| format!("{}/{}", pod.namespace, pod.name));
            let unnamed = unnamed.map(|unnamed| format!("{unnamed:?}"));
            pod.into_iter().chain(name).chain(unnamed).collect::<Vec<_>>().join(" ")
        }

        /// Lets time pass, and the pause after the last reading, which a busy machine prolongs.
        fn later(&mut self, by: Duration) {
            self.now += by;
            self.logs.next_reading = None;
        }
    }

    #[test]
    fn only_container_of_a_pod_needs_no_process() {
        let mut node = Node::new(&["default_web-0_UID/app"]);
        assert_eq!(node.name("c", None), "default/web-0 app");
    }

    #[test]
    fn one_of_several_containers_is_named_by_the_mounts_of_its_process() {
        let mut node = Node::new(&["default_web-0_UID/app", "default_web-0_UID/proxy"]);
        assert_eq!(node.name("a", Some("/pods/UID/containers/proxy/1")), "default/web-0 proxy");
        assert_eq!(node.name("a", None), "default/web-0 proxy", "it is remembered");
        assert_eq!(node.name("b", None), "default/web-0 SeveralContainers");
        assert_eq!(node.name("c", Some("/pods/UID/containers/forged/1")), "default/web-0 SeveralContainers");
    }

    #[test]
    fn unknown_container_is_looked_up_again_after_a_second() {
        let mut node = Node::new(&[]);
        assert_eq!(node.name("a", None), "NoLogFolder");
        node.make("default_web-0_UID");
        assert_eq!(node.name("a", None), "NoLogFolder", "too early");
        node.later(AGAIN);
        assert_eq!(node.name("a", None), "default/web-0 NoContainerFolder");
        node.make("default_web-0_UID/app");
        assert_eq!(node.name("a", None), "default/web-0 NoContainerFolder", "too early");
        node.later(AGAIN);
        assert_eq!(node.name("a", None), "default/web-0 app");
    }

    #[test]
    fn container_of_another_pod_waits_for_none() {
        let mut node = Node::new(&[]);
        assert_eq!(node.name("a", None), "NoLogFolder");
        node.make("default_web-0_UID/app");
        node.later(AGAIN / 2);
        assert_eq!(node.name("b", None), "default/web-0 app");
    }

    #[test]
    fn folder_of_all_pods_is_read_for_a_share_of_the_time() {
        let mut node = Node::new(&["default_web-0_UID/app"]);
        node.logs.next_reading = node.now.checked_add(AGAIN);
        assert_eq!(node.name("a", None), "LogFoldersUnread");
        node.now += AGAIN;
        assert_eq!(node.name("a", None), "default/web-0 app");
    }

    #[test]
    fn entries_that_no_kubelet_creates_are_counted() {
        let mut node = Node::new(&["default_web-0_UID/app", "default_web-0_UID/.hidden", "lost+found", "Default_x_UID"]);
        fs::write(node.folder.path().join(format!("default_file_{OTHER}")), "").unwrap();
        let raw = std::ffi::OsStr::from_bytes(b"default_\xff_x");
        fs::create_dir(node.folder.path().join(raw)).unwrap();
        std::os::unix::fs::symlink("/", node.folder.path().join(format!("default_link_{OTHER}"))).unwrap();
        assert_eq!(node.name("a", None), "default/web-0 app");
        node.later(AGAIN);
        assert_eq!(node.name_in(OTHER, "b", None), "NoLogFolder");
        assert_eq!(node.logs.other_entries(), 5);
    }

    #[test]
    fn ambiguous_or_unreadable_folders_give_no_name() {
        let mut node = Node::new(&["default_web-0_UID/app", "default_web-1_UID/app"]);
        assert_eq!(node.name("a", None), "SeveralLogFolders");
        node.logs = PodLogs::new(node.folder.path().join("missing"), String::new());
        assert_eq!(node.name("a", None), "LogFoldersUnread");
    }

    #[test]
    fn tables_are_bounded() {
        let mut node = Node::new(&["default_web-0_UID/app"]);
        for number in 0..2 * MAX_CONTAINERS + 9 {
            node.name(&number.to_string(), None);
            node.later(AGAIN);
            node.name_in(OTHER, &format!("x{number}"), None);
        }
        assert!(node.logs.containers.len() <= MAX_CONTAINERS && node.logs.nameless.len() <= MAX_CONTAINERS);
    }
}
