//! The ways from the client to the server.

use std::path::PathBuf;
use std::process::Command;

use serde::Serialize;

/// What stands between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    /// Nothing.
    Direct,
    /// watchtap's tap without observing.
    WatchtapOff,
    /// `watchtap run`.
    WatchtapOn,
    /// nginx, `stream` with TLS on both sides.
    Nginx,
    /// haproxy, `mode tcp` with TLS on both sides.
    Haproxy,
    /// stunnel, one service that ends TLS and one that begins it.
    Stunnel,
}

impl Way {
    pub(super) const ALL: [Self; 6] =
        [Self::Direct, Self::WatchtapOff, Self::WatchtapOn, Self::Nginx, Self::Haproxy, Self::Stunnel];
    /// Those that watchtap is compared with.
    pub(super) const PEERS: [Self; 3] = [Self::Nginx, Self::Haproxy, Self::Stunnel];

    /// For people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::WatchtapOff => "watchtap, observing off",
            Self::WatchtapOn => "watchtap, observing on",
            Self::Nginx => "nginx stream",
            Self::Haproxy => "haproxy tcp",
            Self::Stunnel => "stunnel",
        }
    }

    /// The Debian packages of a peer.
    pub(super) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Direct | Self::WatchtapOff | Self::WatchtapOn => &[],
            Self::Nginx => &["nginx", "libnginx-mod-stream"],
            Self::Haproxy => &["haproxy"],
            Self::Stunnel => &["stunnel4"],
        }
    }

    /// The program of a peer; `None` when it is not installed.
    pub(super) fn program(self) -> Option<PathBuf> {
        let name = match self {
            Self::Direct | Self::WatchtapOff | Self::WatchtapOn => return None,
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Stunnel => "stunnel",
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Servers lie in folders that an ordinary user's PATH lacks.
        let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
        folders.map(|folder| folder.join(name)).find(|program| program.is_file())
    }

    /// The version of a peer, as it says it; `None` when it is not installed.
    pub(super) fn version(self) -> Option<String> {
        let flag = if self == Self::Stunnel { "-version" } else { "-v" };
        let output = Command::new(self.program()?).arg(flag).output().ok()?;
        // Two of them say it where errors go.
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let is_version = |word: &&str| word.contains('.') && word.starts_with(|first: char| first.is_ascii_digit());
        let version = said.split(|c: char| c.is_whitespace() || c == '/').find(is_version);
        Some(version.unwrap_or("of unknown version").to_owned())
    }

    /// Whether it is a peer that is not installed.
    pub(super) fn is_missing(self) -> bool {
        Self::PEERS.contains(&self) && self.program().is_none()
    }
}
