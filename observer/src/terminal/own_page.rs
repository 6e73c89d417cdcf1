//! The page of this process's own run, as a scene.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anstream::adapter::strip_str;
use ratatui::buffer::Buffer;

use super::scene::Scene;
use crate::injected_fault::{self, Component};
use crate::pipeline::Snapshots;
use crate::printable::HeldStderr;
use crate::view::{CommandEnd, Key, Mouse, Outcome, Page};

/// The page, and what it shows.
#[derive(Debug)]
pub(crate) struct OwnPage {
    page: Page,
    snapshots: Snapshots,
    command_end: Receiver<CommandEnd>,
    outcome: Option<Outcome>,
}

/// Reports the end of the command to its page.
#[derive(Clone, Debug)]
pub(crate) struct CommandEndSender(SyncSender<CommandEnd>);

impl OwnPage {
    /// Shows `page`, then each new snapshot.
    pub(crate) fn new(page: Page, snapshots: Snapshots) -> Self {
        Self::of_command(page, snapshots).0
    }

    /// The same for a run with a command, whose end the sender reports.
    pub(crate) fn of_command(page: Page, snapshots: Snapshots) -> (Self, CommandEndSender) {
        // A command ends once.
        let (sender, command_end) = sync_channel(1);
        (Self { page, snapshots, command_end, outcome: None }, CommandEndSender(sender))
    }
}

impl CommandEndSender {
    /// Shows that the command of the run has ended.
    pub(crate) fn send(&self, end: CommandEnd) {
        // A page that was left needs no notice.
        let _shown = self.0.try_send(end);
    }
}

impl Scene for OwnPage {
    fn take_news(&mut self) -> io::Result<bool> {
        let mut is_changed = false;
        if let Some(snapshot) = self.snapshots.take() {
            self.page.show(snapshot);
            is_changed = true;
        }
        if let Ok(end) = self.command_end.try_recv() {
            self.page.command_ended(end);
            is_changed = true;
        }
        for line in HeldStderr::news() {
            self.page.hear(&strip_str(&line).to_string());
            is_changed = true;
        }
        Ok(is_changed)
    }

    fn draw(&mut self, buffer: &mut Buffer) {
        injected_fault::inject(Component::Page, &self.page);
        self.page.draw(buffer);
    }

    fn key(&mut self, key: Key) {
        self.outcome = Some(self.page.key(key));
    }

    fn mouse(&mut self, mouse: Mouse) {
        self.page.mouse(mouse);
    }

    fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcome.take()
    }

    fn note_written(&mut self, written: Result<&Path, &io::Error>) {
        self.page.note_written(written);
    }
}
