//! Members of the kernel's structures that the programs read, and where they are.

/// A member of a structure of the kernel. Where it lies differs from kernel to kernel: user space reads it from `/sys/kernel/btf/vmlinux`. The only value
/// of the map `KERNEL_OFFSETS` is an array with the offsets of all members, in bytes, each at its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum KernelMember {
    /// From a thread to its table of descriptors.
    TaskFiles = 0,
    /// From a thread to the leader of its thread group, the process.
    TaskLeader = 1,
    /// The name of a thread.
    TaskName = 2,
    /// When a thread was started, in nanoseconds since the machine was, the time that it slept included.
    TaskStarted = 3,
    /// From a table of descriptors to its present array.
    FilesTable = 4,
    /// How many descriptors the array has room for.
    TableLength = 5,
    /// From it to the pointers to files.
    TableFiles = 6,
    /// From a file to what is behind it: of a socket's, a `struct socket`.
    FilePrivate = 7,
    /// From a file to its inode.
    FileInode = 8,
    /// What kind of file an inode is of.
    InodeMode = 9,
    /// From a `struct socket` to its `struct sock`.
    SocketSock = 10,
    /// From a `struct socket` back to its file.
    SocketFile = 11,
    /// The address family.
    SockFamily = 12,
    /// The process's own address, of IPv4.
    SockLocal = 13,
    /// The other side's.
    SockRemote = 14,
    /// The process's own address, of IPv6.
    SockLocal6 = 15,
    /// The other side's.
    SockRemote6 = 16,
    /// The process's own port, in the byte order of the machine.
    SockLocalPort = 17,
    /// The other side's, in that of the network.
    SockRemotePort = 18,
    /// The protocol.
    SockProtocol = 19,
    /// What went wrong last, an error number; 0 for nothing.
    SockError = 20,
    /// The state.
    SockState = 21,
    /// From a thread to what its thread group shares.
    TaskSignal = 22,
    /// How many threads of the group have not ended.
    SignalLive = 23,
    /// How often the thread, or those that it descends from, executed another program.
    TaskExecs = 24,
}

impl KernelMember {
    /// How many there are.
    pub const COUNT: usize = 25;

    /// All of them, in the order of their numbers.
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
    ];

    /// The structure and the member as the kernel names them, with those around it (Linux 6.18; the same in 6.6).
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
        }
    }

    /// Whether kernels may lack it: those that are built without IPv6 have no addresses of that.
    #[must_use]
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::SockLocal6 | Self::SockRemote6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_its_number_as_its_place() {
        for (place, member) in KernelMember::ALL.into_iter().enumerate() {
            assert_eq!(member as usize, place, "{member:?}");
        }
    }
}
