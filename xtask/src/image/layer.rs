//! The layer of an image: a tar with watchtap and the licences of its parts.

use std::collections::BTreeMap;

use super::gzip;

/// A file in a layer.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) mode: Mode,
    pub(crate) content: Vec<u8>,
}

/// The permissions of a file. No file of an image can be changed, except by root.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mode {
    Executable,
    Readable,
}

/// Files by path, without a leading slash. The order is that of the tar.
pub(crate) type Files = BTreeMap<String, File>;

/// A layer before and after compression.
pub(super) struct Layer {
    /// Its hash identifies the layer in the configuration.
    pub(super) tar: Vec<u8>,
    pub(super) compressed: Vec<u8>,
}

impl Layer {
    pub(super) fn of(files: &Files, time: u64) -> anyhow::Result<Self> {
        let tar = tar(files, time)?;
        Ok(Self { compressed: gzip::compress(&tar), tar })
    }
}

/// A tar in the ustar format, whose bytes depend only on the arguments: root owns all files, and all have one time.
pub(crate) fn tar(files: &Files, time: u64) -> anyhow::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, file) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(match file.mode {
            Mode::Executable => 0o755,
            Mode::Readable => 0o644,
        });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(time);
        header.set_size(u64::try_from(file.content.len())?);
        tar.append_data(&mut header, path, &*file.content)?;
    }
    Ok(tar.into_inner()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(mode: Mode, content: &str) -> File {
        File { mode, content: content.as_bytes().to_vec() }
    }

    #[test]
    fn entries_are_sorted_and_have_no_trace_of_the_machine() {
        let files = Files::from([
            (String::from("watchtap"), file(Mode::Executable, "program")),
            (String::from("LICENSE"), file(Mode::Readable, "text")),
        ]);
        let tar = tar(&files, 1_700_000_000).unwrap();
        let entries: Vec<_> = tar::Archive::new(&*tar)
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let owner =
                    (header.uid().unwrap(), header.gid().unwrap(), header.username().unwrap().unwrap_or_default().to_owned());
                let path = entry.path().unwrap().display().to_string();
                (path, header.mode().unwrap(), owner, header.mtime().unwrap(), header.size().unwrap())
            })
            .collect();
        let root = || (0, 0, String::new());
        assert_eq!(
            entries,
            [
                (String::from("LICENSE"), 0o644, root(), 1_700_000_000, 4),
                (String::from("watchtap"), 0o755, root(), 1_700_000_000, 7)
            ]
        );
    }

    #[test]
    fn same_files_make_the_same_layer() {
        let files = Files::from([(String::from("a"), file(Mode::Readable, "text"))]);
        let [first, second] = [(); 2].map(|()| Layer::of(&files, 1).unwrap());
        assert_eq!((first.tar, first.compressed), (second.tar, second.compressed));
    }
}
