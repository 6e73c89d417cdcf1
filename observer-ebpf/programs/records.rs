//! Writes records to the ring buffer for plaintext.
//!
//! Room is reserved first, and the payload is read into it from the process. So no byte is copied twice, and programs that
//! interrupt each other share no buffer. The verifier must know the size of the room, so there are a few sizes.

use aya_ebpf::maps::ring_buf::RingBufEntry;
use observer_ebpf::{Connection, Kind, LARGEST_CALL, LARGEST_PAYLOAD, Loss, Opened, PAYLOAD_SIZES, Record, UNREADABLE};

use crate::maps::{RECORDS, count};
use crate::{memory, wakeups};

const SMALL: usize = PAYLOAD_SIZES[0];
const MIDDLE: usize = PAYLOAD_SIZES[1];

/// Maximum number of bytes of a field's name that are recorded. HTTP has no limit, but names in use are at most a fifth as long.
const LONGEST_NAME: u32 = 255;

/// The reader is woken if more than this part of the buffer is unread, here an eighth. Otherwise it reads every 20 ms by itself. A wake-up
/// interrupts the process that is recorded.
const UNREAD_PART: u64 = 8;

/// The direction of plaintext, numbered as in [`Kind`].
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Direction {
    Sent = Kind::Sent as u32,
    Received = Kind::Received as u32,
}

impl Direction {
    /// The counter of this direction.
    ///
    /// # Safety
    ///
    /// `connection` must point into the map of connections.
    #[inline(always)]
    pub(crate) unsafe fn counter(self, connection: *mut Connection) -> *mut u64 {
        // SAFETY: as the caller promises; no reference is made.
        unsafe {
            match self {
                Self::Sent => &raw mut (*connection).sent,
                Self::Received => &raw mut (*connection).received,
            }
        }
    }
}

#[repr(C)]
struct Room<const N: usize> {
    record: Record,
    payload: [u8; N],
}

/// Records the bytes of a call, in as many records as needed, up to [`LARGEST_CALL`].
///
/// `record` has the offset of the first byte.
#[inline(always)]
pub(crate) fn call(record: &Record, buffer: u64, length: u64) {
    let recorded = length.min(LARGEST_CALL as u64);
    if length > recorded {
        count(Loss::BeyondLargestCall, length - recorded);
    }
    let complete = recorded / LARGEST_PAYLOAD as u64;
    // The verifier follows each round, so all rounds have the same size, and their number is a constant.
    for part in 0..(LARGEST_CALL / LARGEST_PAYLOAD) as u64 {
        if part >= complete {
            break;
        }
        bytes::<LARGEST_PAYLOAD>(record, buffer, part * LARGEST_PAYLOAD as u64, LARGEST_PAYLOAD as u64);
    }
    let begin = complete * LARGEST_PAYLOAD as u64;
    let rest = recorded - begin;
    if rest == 0 {
        return;
    }
    if rest <= SMALL as u64 {
        bytes::<SMALL>(record, buffer, begin, rest);
    } else if rest <= MIDDLE as u64 {
        bytes::<MIDDLE>(record, buffer, begin, rest);
    } else {
        bytes::<LARGEST_PAYLOAD>(record, buffer, begin, rest);
    }
}

/// This is a function of its own in the kernel, so that the loop around it is small.
#[inline(never)]
fn bytes<const N: usize>(record: &Record, buffer: u64, begin: u64, length: u64) {
    // The callers guarantee this, but the verifier does not know it.
    let length = if length > N as u64 { N as u32 } else { length as u32 };
    let Some(mut room) = reserve::<N>(u64::from(length)) else { return };
    let entry = room.as_mut_ptr();
    // SAFETY: the entry is reserved, as large as `Room<N>`, and `length` is at most `N`.
    unsafe {
        (*entry).record = *record;
        (*entry).record.offset = record.offset + begin;
        (*entry).record.length = length;
        if !memory::copy((&raw mut (*entry).payload).cast(), length, buffer + begin) {
            (*entry).record.flags = UNREADABLE;
            count(Loss::Unreadable, 1);
        }
    }
    submit(room);
}

/// Records a head without payload.
#[inline(always)]
pub(crate) fn head(record: &Record) {
    let Some(mut room) = reserve::<0>(0) else { return };
    // SAFETY: the entry is reserved, as large as a `Record`.
    unsafe { (*room.as_mut_ptr()).record = *record };
    submit(room);
}

/// Records a number as payload. Returns false, and counts the record as lost, if there is no room.
#[inline(always)]
pub(crate) fn number(record: &Record, number: u64) -> bool {
    let Some(mut room) = reserve::<8>(0) else { return false };
    let entry = room.as_mut_ptr();
    // SAFETY: the entry is reserved, as large as `Room<8>`.
    unsafe {
        (*entry).record = *record;
        (*entry).record.length = 8;
        (*entry).payload = number.to_ne_bytes();
    }
    submit(room);
    true
}

#[repr(C)]
struct Opening {
    record: Record,
    opened: Opened,
}

/// Records the endpoints of a connection. Returns false if there is no room. Each closure writes its part in place and completely,
/// because the stack has no room for these parts.
#[inline(always)]
pub(crate) fn opened(record: impl FnOnce(&mut Record), opened: impl FnOnce(&mut Opened)) -> bool {
    let Some(mut room) = RECORDS.reserve::<Opening>(0) else {
        count(Loss::NoRoom, 1);
        return false;
    };
    // SAFETY: the entry is reserved, as large as an `Opening`, eight bytes aligned, and any bytes are numbers.
    let entry = unsafe { room.assume_init_mut() };
    record(&mut entry.record);
    opened(&mut entry.opened);
    submit(room);
    true
}

/// A text in the memory of the process.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) address: u64,
    pub(crate) length: u64,
}

/// Records a header field. If it is too long for a record, the record is [`UNREADABLE`], and the excess bytes are counted.
#[inline(always)]
pub(crate) fn field(record: &Record, name: Text, value: Text) {
    let length = value.length.saturating_add(u64::from(LONGEST_NAME));
    if length <= SMALL as u64 {
        name_and_value::<SMALL>(record, &name, &value);
    } else if length <= MIDDLE as u64 {
        name_and_value::<MIDDLE>(record, &name, &value);
    } else {
        name_and_value::<LARGEST_PAYLOAD>(record, &name, &value);
    }
}

#[inline(never)]
fn name_and_value<const N: usize>(record: &Record, name: &Text, value: &Text) {
    let name_length = name.length.min(u64::from(LONGEST_NAME)) as u32;
    // A value always has room beside the longest name. The verifier cannot follow the actual length of the name.
    let longest_value = N as u32 - LONGEST_NAME;
    let value_length = value.length.min(u64::from(longest_value)) as u32;
    let recorded = u64::from(name_length) + u64::from(value_length);
    let Some(mut room) = reserve::<N>(recorded) else { return };
    let wanted = name.length.saturating_add(value.length);
    if wanted > recorded {
        count(Loss::BeyondLargestCall, wanted - recorded);
    }
    let is_complete = wanted == recorded;
    let entry = room.as_mut_ptr();
    // SAFETY: the entry is reserved, as large as `Room<N>`; the name is at most `LONGEST_NAME` long, and the value at most the
    // rest.
    unsafe {
        (*entry).record = *record;
        (*entry).record.length = name_length + value_length;
        (*entry).record.name_length = name_length;
        let payload: *mut u8 = (&raw mut (*entry).payload).cast();
        let has_name = memory::copy(payload, name_length, name.address);
        let has_value = memory::copy(payload.add(name_length as usize), value_length, value.address);
        if !(has_name && has_value) {
            count(Loss::Unreadable, 1);
        }
        if !(has_name && has_value && is_complete) {
            (*entry).record.flags = UNREADABLE;
        }
    }
    submit(room);
}

/// Reserves room for a record. If the ring buffer is full, counts `length` bytes of payload as lost, and returns `None`.
#[inline(always)]
fn reserve<const N: usize>(length: u64) -> Option<RingBufEntry<Room<N>>> {
    let room = RECORDS.reserve::<Room<N>>(0);
    if room.is_none() {
        count(Loss::NoRoom, 1);
        count(Loss::NoRoomBytes, length);
    }
    room
}

#[inline(always)]
fn submit<T: 'static>(room: RingBufEntry<T>) {
    wakeups::submit(room, wakeups::unread(&RECORDS) > wakeups::size(&RECORDS) / UNREAD_PART);
}
