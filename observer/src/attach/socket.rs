//! The socket that a run listens on. It exists under its name only once it is private and listens, and is removed at the end.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use socket2::{Domain, SockAddr, Socket, Type};

/// Number of connections that wait in the kernel.
const BACKLOG: i32 = 16;

/// A listening socket with mode 0600. Its file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct AttachSocket {
    /// `None` once it is served.
    listener: Option<UnixListener>,
    path: PathBuf,
    /// Device and inode of the file.
    file: (u64, u64),
    /// The folder, if it is watchtap's own. It is removed with its last socket.
    own_folder: Option<PathBuf>,
}

/// The state of a path for a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathState {
    Free,
    /// A socket to which no process listens any more.
    Dead,
    /// A socket to which a process listens.
    InUse,
    /// Something else.
    NoSocket,
}

impl AttachSocket {
    /// A socket at `path`, in a folder of the user's choice. A socket that an ended run left there is replaced.
    pub(crate) fn bind_at(path: &Path) -> Result<Self> {
        match state(path).with_context(|| format!("cannot use {}", path.display()))? {
            PathState::Free | PathState::Dead => bind(path),
            PathState::InUse => bail!("{}: another run listens there", path.display()),
            PathState::NoSocket => bail!("{} exists and is no socket; remove it, or choose another path", path.display()),
        }
    }

    /// This socket. `folder` is removed with it, unless it has others then.
    pub(super) fn with_own_folder(mut self, folder: PathBuf) -> Self {
        self.own_folder = Some(folder);
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn take_listener(&mut self) -> Option<UnixListener> {
        self.listener.take()
    }
}

impl Drop for AttachSocket {
    fn drop(&mut self) {
        // The path may have another socket by now.
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|there| (there.dev(), there.ino()) == self.file);
        if is_ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!("{} could not be removed: {error}", self.path.display());
        }
        if let Some(folder) = &self.own_folder {
            // It stays while other runs have sockets in it.
            let _removed = fs::remove_dir(folder);
        }
    }
}

/// Binds a socket in a new folder that only this user can enter, and then gives it its name. So other users can connect at no
/// moment, and no process finds a socket that does not listen. A link at the path is replaced, not followed.
pub(super) fn bind(path: &Path) -> Result<AttachSocket> {
    // Relative paths stay valid only in the current folder.
    let path = std::path::absolute(path)?;
    let folder = path.parent().ok_or_else(|| anyhow!("{} names no file", path.display()))?;
    fs::metadata(folder).with_context(|| format!("cannot use the folder {}", folder.display()))?;
    let private = tempfile::Builder::new()
        .prefix(".")
        .rand_bytes(6)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(folder)
        .with_context(|| format!("cannot create a file in {}", folder.display()))?;
    let unnamed = private.path().join("s");
    for path in [&path, &unnamed] {
        check_length(path)?;
    }
    let named = || -> io::Result<AttachSocket> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(&unnamed)?)?;
        fs::set_permissions(&unnamed, Permissions::from_mode(0o600))?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let there = fs::symlink_metadata(&unnamed)?;
        fs::rename(&unnamed, &path)?;
        let listener = Some(UnixListener::from(OwnedFd::from(socket)));
        Ok(AttachSocket { listener, path: path.clone(), file: (there.dev(), there.ino()), own_folder: None })
    };
    named().with_context(|| format!("cannot listen at {}", path.display()))
}

/// The address of a socket has room for about a hundred bytes (unix(7)).
pub(super) fn check_length(path: &Path) -> Result<()> {
    match SocketAddr::from_pathname(path) {
        Ok(_) => Ok(()),
        Err(_) => bail!(
            "{} is too long for the path of a socket: {} bytes, of about 100; choose a shorter path",
            path.display(),
            path.as_os_str().len()
        ),
    }
}

/// The state of a path. A link is no socket: it could lead to one of another user.
pub(super) fn state(path: &Path) -> io::Result<PathState> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.file_type().is_socket() => {}
        Ok(_) => return Ok(PathState::NoSocket),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PathState::Free),
        Err(error) => return Err(error),
    }
    let Ok(address) = SockAddr::unix(path) else { return Ok(PathState::Free) };
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A process that is stopped has a queue that may be full; a blocking call would wait for it.
    socket.set_nonblocking(true)?;
    match socket.connect(&address) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(PathState::Dead),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(PathState::Free),
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        Ok(()) | Err(_) => Ok(PathState::InUse),
    }
}
