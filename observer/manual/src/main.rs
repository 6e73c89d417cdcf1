//! Writes the documents of watchtap's command line into a folder: a man page for each command, and completions for each shell.
//!
//! This program is for releases (`cargo xtask release`). So the generator of man pages is not in the program that ships.

mod page;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap_complete::Shell;

/// The shells, as `watchtap completions` knows them.
const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

fn main() -> Result<ExitCode> {
    let [folder]: [OsString; 1] =
        std::env::args_os().skip(1).collect::<Vec<_>>().try_into().ok().context("usage: watchtap-manual FOLDER")?;
    let folder = PathBuf::from(folder);
    for (name, content) in documents()? {
        write(&folder.join(name), &content)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All documents by their paths in the folder.
fn documents() -> Result<Vec<(String, Vec<u8>)>> {
    let mut documents = page::pages(watchtap::cli::command_line())?;
    for shell in SHELLS {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut watchtap::cli::command_line(), "watchtap", &mut script);
        documents.push((format!("completions/{}", file_name(shell)), script));
    }
    Ok(documents)
}

/// The name under which the shell finds the script.
fn file_name(shell: Shell) -> String {
    use clap_complete::Generator as _;
    // bash-completion loads a script by the name of the command.
    if shell == Shell::Bash { "watchtap".to_owned() } else { shell.file_name("watchtap") }
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_has_a_script_under_the_name_that_it_looks_for() {
        let documents = documents().unwrap();
        for name in ["watchtap", "watchtap.elv", "watchtap.fish", "_watchtap.ps1", "_watchtap"] {
            let script = documents.iter().find(|(path, _)| *path == format!("completions/{name}"));
            let text = String::from_utf8_lossy(&script.unwrap().1);
            assert!(text.contains("status") && text.contains("namespace"), "{name}: {text}");
        }
    }

    #[test]
    fn documents_are_the_same_each_time() {
        assert_eq!(documents().unwrap(), documents().unwrap());
    }
}
