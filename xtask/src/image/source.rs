//! The source that an image is built from: its version, its commit and its time.

use anyhow::{Context, ensure};
use xshell::cmd;

use crate::workspace;

/// The variable with the time of a source that is not in git (reproducible-builds.org, `SOURCE_DATE_EPOCH`).
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The source of an image. All of its values come from the commit, never from the clock.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The version of the workspace.
    pub(crate) version: String,
    /// The commit, with `-dirty` if files differ from it; `None` if the source is not in git.
    pub(crate) revision: Option<String>,
    /// Where the source is published: `repository` of the package; `None` if that is unset.
    pub(crate) repository: Option<String>,
    /// Seconds since 1970, for all times in the image.
    pub(crate) time: u64,
}

impl Source {
    pub(crate) fn of_workspace() -> anyhow::Result<Self> {
        let shell = workspace::shell()?;
        let metadata = cmd!(shell, "cargo metadata --locked --no-deps --format-version 1").quiet().read()?;
        let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.into_iter().find(|package| package["name"] == "observer");
        let package = package.context("cargo metadata has no package observer")?;
        let version = package["version"].as_str().context("cargo metadata has no version")?.to_owned();
        let repository = package["repository"].as_str().map(str::to_owned);
        let commit = cmd!(shell, "git log -1 --format=%H%x20%ct").quiet().ignore_stderr().read();
        let (revision, committed) = match commit.as_deref().map(|line| line.split_once(' ')) {
            Ok(Some((commit, time))) => {
                let changes = cmd!(shell, "git status --porcelain --untracked-files=no").quiet().read()?;
                let dirty = if changes.is_empty() { "" } else { "-dirty" };
                (Some(format!("{commit}{dirty}")), time.parse().context("git printed no time")?)
            }
            // Without git, or without a repository.
            Ok(None) | Err(_) => (None, 0),
        };
        Ok(Self { version, revision, repository, time: time(std::env::var(EPOCH).ok().as_deref(), committed)? })
    }

    /// The time in RFC 3339.
    pub(super) fn created(&self) -> String {
        humantime::format_rfc3339_seconds(std::time::UNIX_EPOCH + std::time::Duration::from_secs(self.time)).to_string()
    }
}

/// The time from the variable if it is set, else that of the commit.
fn time(epoch: Option<&str>, committed: u64) -> anyhow::Result<u64> {
    let Some(epoch) = epoch.filter(|epoch| !epoch.is_empty()) else { return Ok(committed) };
    let seconds = epoch.parse().with_context(|| format!("{EPOCH}={epoch} is not a number of seconds since 1970"))?;
    // The last second that RFC 3339 can express.
    ensure!(seconds <= 253_402_300_799, "{EPOCH}={epoch} is after the year 9999");
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_replaces_the_time_of_the_commit() {
        assert_eq!(time(None, 5).unwrap(), 5);
        assert_eq!(time(Some(""), 5).unwrap(), 5);
        assert_eq!(time(Some("1700000000"), 5).unwrap(), 1_700_000_000);
        for wrong in ["yesterday", "-1", "253402300800"] {
            assert!(time(Some(wrong), 5).unwrap_err().to_string().starts_with("SOURCE_DATE_EPOCH="), "{wrong}");
        }
    }

    #[test]
    fn time_is_written_in_utc() {
        let source = Source { version: String::new(), revision: None, repository: None, time: 1_700_000_000 };
        assert_eq!(source.created(), "2023-11-14T22:13:20Z");
    }
}
