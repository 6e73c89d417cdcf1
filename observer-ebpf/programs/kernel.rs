//! Reads structures of the running kernel, at the member offsets that user space has found.
//!
//! Nothing keeps a structure alive: a socket may be freed meanwhile, and its memory used for other data. So the values are checked
//! against each other. If they are inconsistent, there is no socket.

use core::mem::MaybeUninit;

use aya_ebpf::helpers::generated::{bpf_get_current_task, bpf_probe_read_kernel};
use observer_ebpf::{Endpoint, KernelMember, PID_NAMESPACE_LEVELS};

use crate::maps::KERNEL_OFFSETS;

/// `S_IFMT` and `S_IFSOCK` of Linux `include/uapi/linux/stat.h`.
const FILE_TYPE: u16 = 0o170_000;
const SOCKET: u16 = 0o140_000;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const IPPROTO_TCP: u16 = 6;

/// A structure in the kernel's memory, by its address, which is never 0.
#[derive(Clone, Copy)]
pub(crate) struct Structure(u64);

impl Structure {
    /// The structure at an address; `None` for a null pointer.
    #[inline(always)]
    pub(crate) fn at(address: u64) -> Option<Self> {
        (address != 0).then_some(Self(address))
    }

    #[inline(always)]
    pub(crate) fn address(self) -> u64 {
        self.0
    }

    /// The current thread.
    #[inline(always)]
    fn task() -> Option<Self> {
        // SAFETY: takes nothing and returns a number.
        Self::at(unsafe { bpf_get_current_task() })
    }

    /// The value of a member; `None` if it cannot be read, or the offsets are missing.
    #[inline(always)]
    fn member<T: Copy>(self, member: KernelMember) -> Option<T> {
        let offset = KERNEL_OFFSETS.get(0)?[member as usize];
        value(self.0 + u64::from(offset))
    }

    /// For a `struct pid`: the structure with its number in a namespace, by the level of the namespace.
    #[inline(always)]
    fn number_at(self, level: u32) -> Option<Self> {
        let offsets = KERNEL_OFFSETS.get(0)?;
        let first = self.0 + u64::from(offsets[KernelMember::PidNumbers as usize]);
        let size = u64::from(offsets[KernelMember::NumberNamespace as usize]) + size_of::<u64>() as u64;
        Self::at(first + u64::from(level) * size)
    }

    /// The structure that a member points to.
    #[inline(always)]
    fn pointed(self, member: KernelMember) -> Option<Self> {
        Self::at(self.member(member)?)
    }
}

#[inline(always)]
fn value<T: Copy>(address: u64) -> Option<T> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the helper writes as many bytes as `value` has, or fails.
    let failed = unsafe { bpf_probe_read_kernel(value.as_mut_ptr().cast(), size_of::<T>() as u32, address as *const _) };
    // SAFETY: the helper has written all bytes, and any bytes are valid for the types in use (numbers and arrays of them).
    (failed == 0).then(|| unsafe { value.assume_init() })
}

/// Reads the name of the current process into `name`, and returns its start time. Without them, the name and the time are 0.
///
/// The name is read in place, because older verifiers lose the bounds of an array that is returned.
#[inline(always)]
pub(crate) fn process(name: &mut [u8; 16]) -> u64 {
    *name = [0; 16];
    let Some(leader) = Structure::task().and_then(|task| task.pointed(KernelMember::TaskLeader)) else { return 0 };
    let Some(offsets) = KERNEL_OFFSETS.get(0) else { return 0 };
    let at = leader.0 + u64::from(offsets[KernelMember::TaskName as usize]);
    // SAFETY: the helper writes all 16 bytes, zeroes if it fails.
    let _zeroes = unsafe { bpf_probe_read_kernel(name.as_mut_ptr().cast(), name.len() as u32, at as *const _) };
    leader.member(KernelMember::TaskStarted).unwrap_or(0)
}

/// A thread's PIDs in one PID namespace.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) process: u32,
    pub(crate) thread: u32,
}

/// The PIDs of the current thread and of its process in a PID namespace, which is given by the inode of its file; `None` if the
/// process is neither in that namespace nor in one below it, within [`PID_NAMESPACE_LEVELS`].
///
/// A process has a PID in its own namespace and in each one above (`struct pid` of Linux `include/linux/pid.h`, 6.18).
#[inline(never)]
pub(crate) fn numbers_in(namespace: u64) -> Option<Numbers> {
    let task = Structure::task()?;
    let process = task.pointed(KernelMember::TaskLeader)?.pointed(KernelMember::TaskPid)?;
    let thread = task.pointed(KernelMember::TaskPid)?;
    let deepest: u32 = process.member(KernelMember::PidLevel)?;
    for level in 0..PID_NAMESPACE_LEVELS {
        if level > deepest {
            return None;
        }
        let of_level = process.number_at(level)?;
        let inode: u32 = of_level.pointed(KernelMember::NumberNamespace)?.member(KernelMember::NamespaceInode)?;
        if u64::from(inode) == namespace {
            // All threads of a process are in the same namespaces.
            let (process, thread) =
                (of_level.member(KernelMember::Number)?, thread.number_at(level)?.member(KernelMember::Number)?);
            return Some(Numbers { process, thread });
        }
    }
    None
}

/// The cgroup of the current thread (version 2), and those around it, by the number of its folder.
#[derive(Clone, Copy)]
pub(crate) struct Cgroup(Structure);

impl Cgroup {
    /// The cgroup of the current thread.
    #[inline(always)]
    pub(crate) fn current() -> Option<Self> {
        Structure::task()?.pointed(KernelMember::TaskCgroups)?.pointed(KernelMember::CgroupsDefault).map(Self)
    }

    /// The inode of its folder.
    #[inline(always)]
    pub(crate) fn number(self) -> Option<u64> {
        self.0.pointed(KernelMember::CgroupFolder)?.member(KernelMember::FolderNumber)
    }

    /// The cgroup that contains it; `None` for the root.
    #[inline(always)]
    pub(crate) fn parent(self) -> Option<Self> {
        self.0.pointed(KernelMember::CgroupParent)?.pointed(KernelMember::StateCgroup).map(Self)
    }
}

/// Identifies the current program among all with the same PID: the start time of its process, and the number of programs that the
/// process had executed.
#[inline(always)]
pub(crate) fn program() -> Option<(u64, u64)> {
    let task = Structure::task()?;
    let started = task.pointed(KernelMember::TaskLeader)?.member(KernelMember::TaskStarted)?;
    Some((started, task.member(KernelMember::TaskExecs)?))
}

/// Whether the current thread, which is exiting, is the last of its group. The kernel counts it as ended before (Linux
/// `kernel/exit.c`, `do_exit`, 6.6).
#[inline(always)]
pub(crate) fn is_group_dead() -> bool {
    let group = Structure::task().and_then(|task| task.pointed(KernelMember::TaskSignal));
    group.and_then(|group| group.member::<i32>(KernelMember::SignalLive)) == Some(0)
}

/// The TCP socket (`struct sock`) of a descriptor of the current process; `None` for other descriptors. `known` is the address that
/// is expected; 0 for none.
///
/// Other types of files have other data in place of the `struct socket`. So the inode must be a socket's, and the socket must point
/// back to this file. If the expected address is there, that suffices.
#[inline(always)]
pub(crate) fn socket_of(descriptor: i32, known: u64) -> Option<Structure> {
    let table = Structure::task()?.pointed(KernelMember::TaskFiles)?.pointed(KernelMember::FilesTable)?;
    let length: u32 = table.member(KernelMember::TableLength)?;
    let descriptor = u64::try_from(descriptor).ok().filter(|descriptor| *descriptor < u64::from(length))?;
    let files: u64 = table.member(KernelMember::TableFiles)?;
    let file = Structure::at(value(files + descriptor * size_of::<u64>() as u64)?)?;
    let socket = file.pointed(KernelMember::FilePrivate)?;
    let tcp = socket.pointed(KernelMember::SocketSock)?;
    (tcp.0 == known || (is_of_file(socket, file) && is_tcp(tcp))).then_some(tcp)
}

/// Whether a file is a socket, and this is its `struct socket`.
#[inline(always)]
fn is_of_file(socket: Structure, file: Structure) -> bool {
    let mode: Option<u16> = file.pointed(KernelMember::FileInode).and_then(|inode| inode.member(KernelMember::InodeMode));
    let is_socket = mode.is_some_and(|mode| mode & FILE_TYPE == SOCKET);
    is_socket && socket.pointed(KernelMember::SocketFile).is_some_and(|owner| owner.0 == file.0)
}

/// Whether a `struct sock` is a TCP socket, over either version of IP.
#[inline(always)]
pub(crate) fn is_tcp(socket: Structure) -> bool {
    let family = socket.member::<u16>(KernelMember::SockFamily);
    let is_internet = family == Some(AF_INET) || family == Some(AF_INET6);
    is_internet && socket.member(KernelMember::SockProtocol) == Some(IPPROTO_TCP)
}

/// The local end of a TCP socket.
#[inline(always)]
pub(crate) fn local_end(socket: Structure) -> Option<Endpoint> {
    let address = address(socket, KernelMember::SockLocal, KernelMember::SockLocal6)?;
    Some(Endpoint { address, port: socket.member(KernelMember::SockLocalPort)?, reserved: 0 })
}

/// Both ports of a TCP socket, combined by [`ports`].
#[inline(always)]
pub(crate) fn ports_of(socket: Structure) -> Option<u32> {
    let remote = u16::from_be(socket.member(KernelMember::SockRemotePort)?);
    Some(ports(socket.member(KernelMember::SockLocalPort)?, remote))
}

/// Both ports, combined as in `Connection::ports`.
#[inline(always)]
pub(crate) fn ports(local: u16, remote: u16) -> u32 {
    u32::from(local) << 16 | u32::from(remote)
}

/// The remote end of a TCP socket; `None` if it is not connected.
#[inline(always)]
pub(crate) fn remote_end(socket: Structure) -> Option<Endpoint> {
    let port = u16::from_be(socket.member(KernelMember::SockRemotePort)?);
    if port == 0 {
        return None;
    }
    let address = address(socket, KernelMember::SockRemote, KernelMember::SockRemote6)?;
    Some(Endpoint { address, port, reserved: 0 })
}

#[inline(always)]
fn address(socket: Structure, v4: KernelMember, v6: KernelMember) -> Option<[u8; 16]> {
    let family: u16 = socket.member(KernelMember::SockFamily)?;
    if family == AF_INET { socket.member(v4).map(mapped) } else { socket.member(v6) }
}

/// The state of a TCP socket (Linux `include/net/tcp_states.h`).
#[inline(always)]
pub(crate) fn state(socket: Structure) -> Option<u8> {
    socket.member(KernelMember::SockState)
}

/// The last error of a socket; 0 for none.
#[inline(always)]
pub(crate) fn error(socket: Structure) -> i32 {
    socket.member(KernelMember::SockError).unwrap_or(0)
}

#[inline(always)]
fn mapped([a, b, c, d]: [u8; 4]) -> [u8; 16] {
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d]
}
