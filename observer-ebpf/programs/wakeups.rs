//! Submits records to ring buffers, and decides whether that wakes the reader.

use aya_ebpf::maps::RingBuf;
use aya_ebpf::maps::ring_buf::RingBufEntry;

/// `bpf_ringbuf_query`: number of unread bytes, and the size of the buffer (Linux `include/uapi/linux/bpf.h`).
const BPF_RB_AVAIL_DATA: u64 = 0;
const BPF_RB_RING_SIZE: u64 = 1;
/// `bpf_ringbuf_submit`: whether the reader is woken (same file).
const BPF_RB_NO_WAKEUP: u64 = 1;
const BPF_RB_FORCE_WAKEUP: u64 = 2;

/// The number of bytes that the reader has not read yet.
#[inline(always)]
pub(crate) fn unread(ring: &RingBuf) -> u64 {
    ring.query(BPF_RB_AVAIL_DATA)
}

/// The size of the buffer in bytes.
#[inline(always)]
pub(crate) fn size(ring: &RingBuf) -> u64 {
    ring.query(BPF_RB_RING_SIZE)
}

#[inline(always)]
pub(crate) fn submit<T: 'static>(room: RingBufEntry<T>, wakes_reader: bool) {
    room.submit(if wakes_reader { BPF_RB_FORCE_WAKEUP } else { BPF_RB_NO_WAKEUP });
}
