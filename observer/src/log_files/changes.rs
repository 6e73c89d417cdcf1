//! Waits until a followed file has changed, or a caller ends the wait.

use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::fd::OwnedFd;
#[cfg(target_os = "linux")]
use rustix::fs::inotify;
use rustix::io::Errno;

/// Changes of files, and calls.
///
/// inotify(7) reports changes of local files at once. Network file systems and some container mounts report none, so callers look again after
/// a pause in any case.
#[derive(Debug)]
pub(crate) struct Changes {
    #[cfg(target_os = "linux")]
    events: OwnedFd,
    calls: PipeReader,
}

/// Ends a wait for [`Changes`].
#[derive(Debug)]
pub(crate) struct Caller(PipeWriter);

impl Caller {
    /// Ends the present wait, or the next one.
    pub(crate) fn call(&mut self) {
        // The waiting side may be gone, which needs no call.
        let _gone = self.0.write(&[0]);
    }
}

impl Changes {
    /// Changes of no file yet.
    pub(crate) fn open() -> io::Result<(Self, Caller)> {
        let (calls, caller) = io::pipe()?;
        let changes = Self {
            #[cfg(target_os = "linux")]
            events: inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?,
            calls,
        };
        Ok((changes, Caller(caller)))
    }

    /// Adds a file, and the folder in which another may take its name.
    #[cfg(target_os = "linux")]
    pub(super) fn add(&self, path: &Path) {
        use inotify::WatchFlags;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let names = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MOVED_FROM | WatchFlags::MODIFY;
        for (path, flags) in [(path, WatchFlags::MODIFY), (folder, names)] {
            // Without a watch, changes are found after the pause.
            let _unwatched = inotify::add_watch(&self.events, path, flags);
        }
    }

    /// Adds a file. Its changes are found after the pause.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn add(&self, _path: &Path) {}

    /// Waits for a change or a call, for `pause` at most.
    pub(crate) fn wait(&mut self, pause: Duration) -> io::Result<()> {
        let mut sources = vec![PollFd::new(&self.calls, PollFlags::IN)];
        #[cfg(target_os = "linux")]
        sources.push(PollFd::new(&self.events, PollFlags::IN));
        match poll(&mut sources, Some(&Timespec::try_from(pause).map_err(io::Error::other)?)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_called = sources.first().is_some_and(|calls| calls.revents().contains(PollFlags::IN));
        if is_called {
            let _read = self.calls.read(&mut [0])?;
        }
        #[cfg(target_os = "linux")]
        self.forget_events();
        Ok(())
    }

    /// Takes the events, whose content is not used: a look at all files is cheap.
    #[cfg(target_os = "linux")]
    fn forget_events(&self) {
        let mut buffer = [0; 4096];
        while rustix::io::read(&self.events, &mut buffer).is_ok_and(|read| read > 0) {}
    }
}
