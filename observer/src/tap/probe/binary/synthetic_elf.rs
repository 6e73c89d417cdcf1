//! A synthetic program for the unit tests: one segment, which holds the headers and some code.

/// File offset of the code.
pub(super) const CODE_AT: u64 = 64 + 56;
/// Virtual address of the code.
pub(super) const CODE_ADDRESS: u64 = 0x40_0000 + CODE_AT;

/// An x86-64 executable with this code in its only segment.
pub(super) fn program(code: &[u8]) -> Vec<u8> {
    let length = CODE_AT + u64::try_from(code.len()).unwrap();
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [2_u16, 62] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes());
    for word in [CODE_ADDRESS, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, 1, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let (load, readable_and_executable) = (1_u32, 5_u32);
    file.extend(load.to_le_bytes());
    file.extend(readable_and_executable.to_le_bytes());
    for word in [0, 0x40_0000, 0x40_0000, length, length, 0x1000] {
        file.extend(word.to_le_bytes());
    }
    file.extend(code);
    file
}
