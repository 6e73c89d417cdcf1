//! Members of the kernel's structures that the programs read, and their offsets.

/// A member of a structure of the kernel. Its offset depends on the kernel, so user space reads it from `/sys/kernel/btf/vmlinux`.
/// The only value of the map `KERNEL_OFFSETS` is an array of all offsets, in bytes, indexed by member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum KernelMember {
    /// Pointer from a thread to its table of descriptors.
    TaskFiles = 0,
    /// Pointer from a thread to the leader of its thread group, the process.
    TaskLeader = 1,
    /// Name of a thread.
    TaskName = 2,
    /// Start time of a thread, in nanoseconds since boot, including time suspended.
    TaskStarted = 3,
    /// Pointer from a table of descriptors to its current array.
    FilesTable = 4,
    /// Capacity of the array.
    TableLength = 5,
    /// Pointer from the array to the pointers to files.
    TableFiles = 6,
    /// Pointer from a file to its own data: for a socket, its `struct socket`.
    FilePrivate = 7,
    /// Pointer from a file to its inode.
    FileInode = 8,
    /// Type of an inode.
    InodeMode = 9,
    /// Pointer from a `struct socket` to its `struct sock`.
    SocketSock = 10,
    /// Pointer from a `struct socket` to its file.
    SocketFile = 11,
    /// Address family of a socket.
    SockFamily = 12,
    /// Local IPv4 address.
    SockLocal = 13,
    /// Remote IPv4 address.
    SockRemote = 14,
    /// Local IPv6 address.
    SockLocal6 = 15,
    /// Remote IPv6 address.
    SockRemote6 = 16,
    /// Local port, in the byte order of the machine.
    SockLocalPort = 17,
    /// Remote port, in network byte order.
    SockRemotePort = 18,
    /// Protocol of a socket.
    SockProtocol = 19,
    /// Last error of a socket; 0 for none.
    SockError = 20,
    /// State of a socket (Linux `include/net/tcp_states.h`).
    SockState = 21,
    /// Pointer from a thread to the data that its thread group shares.
    TaskSignal = 22,
    /// Number of threads of the group that have not ended.
    SignalLive = 23,
    /// Number of programs that the thread and its ancestors have executed.
    TaskExecs = 24,
    /// Pointer from a thread to its `struct pid`.
    TaskPid = 25,
    /// Level of the thread's own PID namespace in a `struct pid`; 0 for the initial one.
    PidLevel = 26,
    /// The PIDs in a `struct pid`, an array of `struct upid`, by level.
    PidNumbers = 27,
    /// The PID in a `struct upid`.
    Number = 28,
    /// Pointer from a `struct upid`, of which it is the last member, to the PID namespace.
    NumberNamespace = 29,
    /// Inode of the file of a PID namespace.
    NamespaceInode = 30,
    /// Pointer from a thread to its set of cgroups.
    TaskCgroups = 31,
    /// Pointer from the set to the cgroup of version 2.
    CgroupsDefault = 32,
    /// Pointer from a cgroup to its folder.
    CgroupFolder = 33,
    /// Number of a folder, which is its inode.
    FolderNumber = 34,
    /// Pointer from a cgroup to the state of the cgroup that contains it; null for the root.
    CgroupParent = 35,
    /// Pointer from that state to its cgroup.
    StateCgroup = 36,
}

impl KernelMember {
    /// Number of members.
    pub const COUNT: usize = 37;

    /// All members, ordered by number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::TaskFiles,
        Self::TaskLeader,
        Self::TaskName,
        Self::TaskStarted,
        Self::FilesTable,
        Self::TableLength,
        Self::TableFiles,
        Self::FilePrivate,
        Self::FileInode,
        Self::InodeMode,
        Self::SocketSock,
        Self::SocketFile,
        Self::SockFamily,
        Self::SockLocal,
        Self::SockRemote,
        Self::SockLocal6,
        Self::SockRemote6,
        Self::SockLocalPort,
        Self::SockRemotePort,
        Self::SockProtocol,
        Self::SockError,
        Self::SockState,
        Self::TaskSignal,
        Self::SignalLive,
        Self::TaskExecs,
        Self::TaskPid,
        Self::PidLevel,
        Self::PidNumbers,
        Self::Number,
        Self::NumberNamespace,
        Self::NamespaceInode,
        Self::TaskCgroups,
        Self::CgroupsDefault,
        Self::CgroupFolder,
        Self::FolderNumber,
        Self::CgroupParent,
        Self::StateCgroup,
    ];

    /// The kernel's names of the structure and of the member, with the members around it (Linux 6.18; the same in 5.10).
    #[must_use]
    pub const fn path(self) -> (&'static str, &'static str) {
        match self {
            Self::TaskFiles => ("task_struct", "files"),
            Self::TaskLeader => ("task_struct", "group_leader"),
            Self::TaskName => ("task_struct", "comm"),
            Self::TaskStarted => ("task_struct", "start_boottime"),
            Self::FilesTable => ("files_struct", "fdt"),
            Self::TableLength => ("fdtable", "max_fds"),
            Self::TableFiles => ("fdtable", "fd"),
            Self::FilePrivate => ("file", "private_data"),
            Self::FileInode => ("file", "f_inode"),
            Self::InodeMode => ("inode", "i_mode"),
            Self::SocketSock => ("socket", "sk"),
            Self::SocketFile => ("socket", "file"),
            Self::SockFamily => ("sock", "__sk_common.skc_family"),
            Self::SockLocal => ("sock", "__sk_common.skc_rcv_saddr"),
            Self::SockRemote => ("sock", "__sk_common.skc_daddr"),
            Self::SockLocal6 => ("sock", "__sk_common.skc_v6_rcv_saddr"),
            Self::SockRemote6 => ("sock", "__sk_common.skc_v6_daddr"),
            Self::SockLocalPort => ("sock", "__sk_common.skc_num"),
            Self::SockRemotePort => ("sock", "__sk_common.skc_dport"),
            Self::SockProtocol => ("sock", "sk_protocol"),
            Self::SockError => ("sock", "sk_err"),
            Self::SockState => ("sock", "__sk_common.skc_state"),
            Self::TaskSignal => ("task_struct", "signal"),
            Self::SignalLive => ("signal_struct", "live"),
            Self::TaskExecs => ("task_struct", "self_exec_id"),
            Self::TaskPid => ("task_struct", "thread_pid"),
            Self::PidLevel => ("pid", "level"),
            Self::PidNumbers => ("pid", "numbers"),
            Self::Number => ("upid", "nr"),
            Self::NumberNamespace => ("upid", "ns"),
            Self::NamespaceInode => ("pid_namespace", "ns.inum"),
            Self::TaskCgroups => ("task_struct", "cgroups"),
            Self::CgroupsDefault => ("css_set", "dfl_cgrp"),
            Self::CgroupFolder => ("cgroup", "kn"),
            Self::FolderNumber => ("kernfs_node", "id"),
            Self::CgroupParent => ("cgroup", "self.parent"),
            Self::StateCgroup => ("cgroup_subsys_state", "cgroup"),
        }
    }

    /// Whether a kernel may lack it: one without IPv6 has no IPv6 addresses.
    #[must_use]
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::SockLocal6 | Self::SockRemote6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_member_numbers_match_their_positions() {
        for (place, member) in KernelMember::ALL.into_iter().enumerate() {
            assert_eq!(member as usize, place, "{member:?}");
        }
    }
}
