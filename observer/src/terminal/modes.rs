//! Whether there is a terminal for a page, and whether we have it at the moment.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{getpgrp, getsid};
use rustix::termios::tcgetpgrp;

use crate::printable::stdout_is_terminal;

/// Whether a page can be shown: stdin and stdout are a terminal, and it can move its cursor.
pub(crate) fn is_for_a_page() -> bool {
    io::stdin().is_terminal() && stdout_is_terminal() && can_move(std::env::var_os("TERM").as_deref())
}

/// Whether the terminal named by `TERM` can do more than print.
fn can_move(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether the shell has given us the terminal. A process that changes its modes from the background is stopped. A terminal that is
/// not our session's has no background.
pub(super) fn is_ours() -> bool {
    tcgetpgrp(io::stdin()).map_or(true, |foreground| foreground == getpgrp())
}

/// Whether a shell above us can continue a stopped process. The group of a session's leader has none.
pub(super) fn can_be_continued() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}

/// Waits until a key is pressed, for `time` at most, and returns whether one was. A terminal that has hung up is an error: reading
/// its keys would report at once that there are none, again and again (crossterm 0.29 `event/source/unix/mio.rs`).
pub(super) fn wait_for_input(time: Duration) -> io::Result<bool> {
    let keyboard = io::stdin();
    let mut input = [PollFd::new(&keyboard, PollFlags::IN)];
    match poll(&mut input, Some(&Timespec::try_from(time).map_err(io::Error::other)?)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    if input[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal has hung up"));
    }
    Ok(input[0].revents().contains(PollFlags::IN))
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
