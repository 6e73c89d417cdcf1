//! An archive of files for the kernel's first root (`newc` of Linux `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::fmt::Write as _;

/// Mode of a folder, and of a file that may be executed (`st_mode`).
const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
/// The name of the last entry.
const END: &str = "TRAILER!!!";

/// The archive, without an end.
#[derive(Debug, Default)]
pub(super) struct Cpio {
    bytes: Vec<u8>,
    entries: usize,
}

impl Cpio {
    /// Adds a folder, whose parent was added before.
    pub(super) fn add_folder(&mut self, name: &str) {
        self.add(name, FOLDER, &[]);
    }

    /// Adds a file that may be executed.
    pub(super) fn add_file(&mut self, name: &str, content: &[u8]) {
        self.add(name, FILE, content);
    }

    /// The archive with its end.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.add(END, 0, &[]);
        self.bytes
    }

    /// Each entry has 13 numbers of eight hexadecimal digits: inode, mode, user, group, links, time, size, four of devices, length of the
    /// name, and a checksum that this form does not use.
    fn add(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let mut head = "070701".to_owned();
        let numbers = [self.entries, mode as usize, 0, 0, 1, 0, content.len(), 0, 0, 0, 0, name.len() + 1, 0];
        for number in numbers {
            // Writing to a String cannot fail.
            write!(head, "{number:08x}").ok();
        }
        head.push_str(name);
        head.push('\0');
        self.bytes.extend_from_slice(head.as_bytes());
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    /// Names and contents end at a multiple of four bytes.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_an_entry_ends_at_a_multiple_of_four() {
        let mut archive = Cpio::default();
        archive.add_folder("bin");
        archive.add_file("bin/x", b"hello");
        let bytes = archive.end();
        assert_eq!(bytes.len() % 4, 0);
        let starts: Vec<usize> = bytes.windows(6).enumerate().filter(|(_, six)| *six == b"070701").map(|(at, _)| at).collect();
        assert_eq!(starts, [0, 116, 240]);
        assert!(bytes.ends_with(b"TRAILER!!!\0\0\0\0"), "{bytes:?}");
    }
}
