//! Starts `watchtap probe` of the same build.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::server_process::ServerProcess;

const START: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(20);

/// A probe that follows the API server on `port`, once it is attached. `arguments` come after those of all benches.
pub(crate) fn start(port: u16, arguments: &[&str], folder: &Path) -> Result<ServerProcess> {
    let mut command = Command::new(std::env::current_exe()?.with_file_name("watchtap"));
    command.args(["probe", "--quiet", "--no-version-request", "--calls-per-second", "0", "--cpu-budget", "0"]);
    command.args(["--api-server", &format!("127.0.0.1:{port}")]).args(arguments);
    let watchtap = ServerProcess::start("probe", &command, folder)?;
    let begun = Instant::now();
    while !watchtap.log().contains("Ctrl-C unloads") {
        if begun.elapsed() > START {
            bail!("{}", watchtap.log());
        }
        thread::sleep(PAUSE);
    }
    Ok(watchtap)
}
