//! Checks whether there is a terminal for a page, and whether this process is in its foreground.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::tcgetpgrp;

use crate::printable::stdout_is_terminal;
use crate::process_group;

/// Whether a page can be shown: stdin and stdout are terminals, and the terminal can move its cursor.
pub(crate) fn is_for_a_page() -> bool {
    io::stdin().is_terminal() && stdout_is_terminal() && can_move(std::env::var_os("TERM").as_deref())
}

/// Whether the terminal type in `TERM` can move the cursor.
fn can_move(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether this process is in the terminal's foreground process group. The kernel stops a process that changes the terminal's modes
/// from the background. A terminal that does not control this session has no such group, and this returns true.
pub(super) fn is_ours() -> bool {
    tcgetpgrp(io::stdin())
        .map_or(true, |foreground| process_group::group().is_none_or(|own| own == foreground.as_raw_nonzero().get()))
}

/// Whether a shell can continue this process after it has stopped. The process group of a session leader has no such shell.
pub(super) fn can_be_continued() -> bool {
    process_group::session() != process_group::group()
}

/// Waits until a key is pressed or `beside` is readable, for `time` at most. Returns whether a key was pressed. A terminal that has
/// hung up is an error. Without this check, reading keys from it would return at once without a key, in a busy loop (crossterm 0.29
/// `event/source/unix/mio.rs`).
pub(super) fn wait_for_input(time: Duration, beside: Option<BorrowedFd<'_>>) -> io::Result<bool> {
    let keyboard = io::stdin();
    let mut inputs = Vec::with_capacity(2);
    inputs.push(PollFd::new(&keyboard, PollFlags::IN));
    inputs.extend(beside.map(|beside| PollFd::from_borrowed_fd(beside, PollFlags::IN)));
    match poll(&mut inputs, Some(&Timespec::try_from(time).map_err(io::Error::other)?)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    if inputs[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal has hung up"));
    }
    Ok(inputs[0].revents().contains(PollFlags::IN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_needs_a_terminal_that_can_move_its_cursor() {
        let can = [None, Some(""), Some("dumb"), Some("xterm-256color")].map(|term| can_move(term.map(OsStr::new)));
        assert_eq!(can, [false, false, false, true]);
    }
}
