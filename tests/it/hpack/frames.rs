//! The header blocks of one direction of a recorded connection, parsed without the code under test.

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 0x4;
/// The flags PADDED and PRIORITY, which the `h2` crate does not set.
const NOT_SENT: u8 = 0x28;

/// The header blocks in order, each as its fragments.
pub(super) fn header_blocks(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut rest = bytes.strip_prefix(PREFACE).unwrap_or(bytes);
    let (mut blocks, mut block) = (Vec::new(), Vec::new());
    while let Some((header, behind)) = rest.split_first_chunk::<9>() {
        let [high, middle, low, frame_type, flags, ..] = *header;
        let length = u32::from_be_bytes([0, high, middle, low]);
        let (payload, next) = behind.split_at(usize::try_from(length).unwrap());
        if matches!(frame_type, HEADERS | CONTINUATION) {
            assert!(frame_type == CONTINUATION || flags & NOT_SENT == 0);
            block.push(payload);
            if flags & END_HEADERS != 0 {
                blocks.push(std::mem::take(&mut block));
            }
        }
        rest = next;
    }
    blocks
}
