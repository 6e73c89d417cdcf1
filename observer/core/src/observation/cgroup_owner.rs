//! The owner of a cgroup: what the processes in it belong to.

use super::unit;
use crate::k8s::Container;

/// The container of a pod, or else the systemd unit, that has a cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CgroupOwner {
    /// A container of a pod.
    Container(Container),
    /// A unit of systemd, by name.
    Unit(String),
}

impl CgroupOwner {
    /// The owner of a process, from its `/proc/PID/cgroup` (proc(5)).
    pub fn of_process(cgroups: &str) -> Option<Self> {
        Container::of_process(cgroups).map(Self::Container).or_else(|| Self::unit(unit::of_process(cgroups)))
    }

    /// The owner of a cgroup, from its path.
    pub fn of_cgroup(path: &str) -> Option<Self> {
        Container::of_cgroup(path).map(Self::Container).or_else(|| Self::unit(unit::of_cgroup(path)))
    }

    fn unit(name: Option<&str>) -> Option<Self> {
        name.map(|name| Self::Unit(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn container_comes_before_the_unit_of_its_runtime() {
        let (uid, id) = ("d".repeat(32), "c".repeat(64));
        let container = Container::nameless(id.clone(), uid.clone());
        let path = format!("/system.slice/containerd.service/kubepods-pod{uid}.slice:cri-containerd:{id}");
        assert_eq!(CgroupOwner::of_cgroup(&path), Some(CgroupOwner::Container(container)));
        let unit = CgroupOwner::Unit("containerd.service".to_owned());
        assert_eq!(CgroupOwner::of_process("0::/system.slice/containerd.service\n"), Some(unit));
        assert_eq!(CgroupOwner::of_process("0::/\n"), None);
    }
}
