//! The ways from the client to the server: directly, or through a proxy.

use std::path::PathBuf;
use std::process::Command;

use serde::Serialize;

/// The proxy between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    /// No proxy.
    Direct,
    /// watchtap's proxy tap without observing.
    WatchtapOff,
    /// `watchtap run`.
    WatchtapOn,
    /// nginx, `stream` with TLS on both sides.
    Nginx,
    /// haproxy, `mode tcp` with TLS on both sides.
    Haproxy,
    /// stunnel, with one service that terminates TLS and one that starts it.
    Stunnel,
}

impl Way {
    pub(super) const ALL: [Self; 6] =
        [Self::Direct, Self::WatchtapOff, Self::WatchtapOn, Self::Nginx, Self::Haproxy, Self::Stunnel];
    /// The peers that watchtap is compared with.
    pub(super) const PEERS: [Self; 3] = [Self::Nginx, Self::Haproxy, Self::Stunnel];

    /// Display name.
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

    /// The program of a peer; `None` if it is not installed.
    pub(super) fn program(self) -> Option<PathBuf> {
        let name = match self {
            Self::Direct | Self::WatchtapOff | Self::WatchtapOn => return None,
            Self::Nginx => "nginx",
            Self::Haproxy => "haproxy",
            Self::Stunnel => "stunnel",
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Servers may be in folders that are not in an ordinary user's PATH.
        let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
        folders.map(|folder| folder.join(name)).find(|program| program.is_file())
    }

    /// The version that a peer prints; `None` if it is not installed.
    pub(super) fn version(self) -> Option<String> {
        let flag = if self == Self::Stunnel { "-version" } else { "-v" };
        let output = Command::new(self.program()?).arg(flag).output().ok()?;
        // Two of them print it on standard error.
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
