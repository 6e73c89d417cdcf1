//! The layouts that watchtap's eBPF programs and its user space share: records of the ring buffers and values of the maps.
//!
//! The programs are the binary of this crate (`programs/`), for the BPF target only, built by `cargo xtask ebpf build`. This
//! library is `no_std` and has no dependencies, so that both sides can use it. All numbers have the byte order of the machine. No
//! structure has padding, except for its named members.
#![no_std]

mod connection;
mod cookie;
mod filter;
mod kernel_member;
mod lifetime;
mod losses;
#[cfg(not(target_arch = "bpf"))]
mod object;
mod opened;
mod read;
mod record;
mod write;

pub use connection::{Connection, ConnectionAddress, ConnectionKey, UNDECIDED_BYTES, UNDECIDED_TIME, Verdict};
pub use cookie::{AttachCookie, COOKIE_MARK, DescriptorOffsets, MAX_FILES};
pub use filter::{
    CGROUP_LEVELS, FILTER_BY_CGROUP, FILTER_BY_NAME, FILTER_BY_PROCESS, FILTER_SERVER_ENDS, FILTERS_OF_PROCESSES, Filter,
    MAX_API_SERVERS, NAME_LENGTH, NANOSECONDS_A_TICK, PID_NAMESPACE_LEVELS,
};
pub use kernel_member::KernelMember;
pub use lifetime::{LifetimeEvent, LifetimeKind};
pub use losses::Loss;
#[cfg(not(target_arch = "bpf"))]
pub use object::OBJECT;
pub use opened::{Endpoint, Opened, Role};
pub use record::{CLOSE_NOTIFIED, Kind, LARGEST_CALL, LARGEST_PAYLOAD, PAYLOAD_SIZES, Record, UNREADABLE, UNWANTED};
