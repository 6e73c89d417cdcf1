//! Copies the selected row to the clipboard: as a command that repeats its request, or as a note for an issue. A note can also be
//! written to a file.

use std::io;
use std::path::Path;

use super::clock;
use super::key::{NoteFile, Outcome};
use super::raw;
use super::request_row::RequestRow;
use super::row::RowKey;
use super::state::Page;
use crate::printable::Printable;
use crate::view::note::{finding_note, relist_note, storm_note};
use crate::view::quantity::counted;

impl Page {
    /// Copies the selected list or watch as a command, or states why there is none.
    pub(super) fn copy(&mut self) -> Outcome {
        match self.copied_key().and_then(|key| self.command(&key)) {
            Ok(command) => {
                self.message = format!("copied: {command}");
                Outcome::Copy(command)
            }
            Err(because) => self.refuse_to_copy(&because),
        }
    }

    /// Copies a note, in Markdown, on the selected finding, storm or relist.
    pub(super) fn copy_note(&mut self) -> Outcome {
        match self.copied_key().and_then(|key| self.note(&key)) {
            Ok(note) => {
                let note = note.into_string();
                self.message = format!("copied: a note of {} in Markdown", counted(note.lines().count() as u64, "line"));
                Outcome::Copy(note)
            }
            Err(because) => self.refuse_to_copy(&because),
        }
    }

    /// Writes a note on the selected finding, storm or relist to a file.
    pub(super) fn write_note(&mut self) -> Outcome {
        match self.copied_key().and_then(|key| self.note(&key)) {
            Ok(text) => Outcome::Write(NoteFile { stem: format!("watchtap-note-{}", clock::in_a_name(self.shown.at)), text }),
            Err(because) => {
                self.message = format!("not written: {because}");
                Outcome::Stay
            }
        }
    }

    /// Shows whether the note was written, and where.
    pub fn note_written(&mut self, written: Result<&Path, &io::Error>) {
        self.message = match written {
            Ok(file) => format!("written to {}", file.display()),
            Err(error) => format!("not written to the current folder: {error}"),
        };
    }

    fn refuse_to_copy(&mut self, because: &str) -> Outcome {
        self.message = format!("not copied: {because}");
        Outcome::Stay
    }

    fn copied_key(&self) -> Result<RowKey, String> {
        let key = self.opened.clone().or_else(|| self.selected_key()).filter(|_| self.reading.is_none());
        key.ok_or_else(|| "nothing is selected".to_owned())
    }

    fn note(&self, key: &RowKey) -> Result<Printable, String> {
        let snapshot = &*self.shown;
        match key {
            RowKey::Finding(id) => {
                snapshot.findings.iter().find(|finding| finding.id == *id).map(|finding| finding_note(finding, snapshot))
            }
            RowKey::Storm(id) => snapshot.storms.iter().find(|storm| storm.storm == *id).map(|storm| storm_note(storm, snapshot)),
            RowKey::Reflector(id) => {
                let about_it = snapshot.findings.iter().find(|finding| finding.reflectors.contains(id));
                let relist = snapshot.reflectors.iter().find(|row| row.reflector == *id).and_then(|row| row.last_relist.as_ref());
                let note = about_it.map(|finding| finding_note(finding, snapshot));
                note.or_else(|| relist.map(|relist| relist_note(relist, snapshot)))
            }
            RowKey::Client(_) | RowKey::Request(_) => None,
        }
        .ok_or_else(|| "a note is on a finding, a storm or a relist".to_owned())
    }

    fn command(&self, key: &RowKey) -> Result<String, String> {
        let gone = "watchtap no longer has this";
        match key {
            RowKey::Reflector(id) => {
                let row = self.shown.reflectors.iter().find(|row| row.reflector == *id).ok_or(gone)?;
                raw::of_reflector(row, &self.shown)
            }
            RowKey::Request(key) => {
                let row = RequestRow::all(&self.shown).find(|row| row.key() == **key).ok_or(gone)?;
                raw::of_requests(row, &self.shown)
            }
            RowKey::Storm(_) | RowKey::Client(_) | RowKey::Finding(_) => {
                Err("only lists and watches can be repeated: see tabs 1 and 2".to_owned())
            }
        }
    }
}
