//! Restores default signal handling for tests.
//!
//! Under `nohup`, this process ignores SIGHUP. In the background of a script, it ignores SIGINT and SIGQUIT. Ignored signals stay
//! ignored across execve(2), even in programs that tests start and then stop with such a signal. So tests start with default
//! actions. They also start in a separate session: the user ignored the signals so that the run survives the end of its terminal.

use std::fs;

/// Number and name of the signals that tests send to programs.
const ASKED_BY: [(u32, &str); 6] = [(1, "HUP"), (2, "INT"), (3, "QUIT"), (10, "USR1"), (12, "USR2"), (15, "TERM")];

/// Cargo arguments that restore the default actions in tests; empty if no such signal is ignored.
pub(super) fn cargo_arguments() -> Vec<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let words: Vec<String> = runner(&status).iter().map(|word| format!("{word:?}")).collect();
    if words.is_empty() {
        return Vec::new();
    }
    vec!["--config".to_owned(), format!("target.'cfg(all())'.runner=[{}]", words.join(","))]
}

/// The command with which cargo starts test programs, if this is the `/proc/PID/status` of the process (proc(5)). It uses setsid(1)
/// and env(1).
fn runner(status: &str) -> Vec<String> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let ignored = ASKED_BY.iter().filter(|(number, _)| mask >> (number - 1) & 1 == 1);
    let ignored: Vec<&str> = ignored.map(|(_, name)| *name).collect();
    if ignored.is_empty() {
        return Vec::new();
    }
    vec!["setsid".to_owned(), "--wait".to_owned(), "env".to_owned(), format!("--default-signal={}", ignored.join(","))]
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn default_actions_are_restored_for_ignored_signals() {
        for (status, expected) in [
            ("Name:\tx\nSigIgn:\t0000000000000000\n", ""),
            // Only SIGPIPE is ignored, as in every Rust program.
            ("SigIgn:\t0000000000001000\n", ""),
            ("SigIgn:\t0000000000001801\n", "setsid --wait env --default-signal=HUP,USR2"),
            ("SigIgn:\t0000000000000007\n", "setsid --wait env --default-signal=HUP,INT,QUIT"),
            ("", ""),
        ] {
            assert_eq!(runner(status).join(" "), expected, "{status}");
        }
    }

    #[test]
    fn child_of_a_signal_ignoring_parent_dies_by_signals() {
        let runner = runner("SigIgn:\t0000000000000007\n");
        let script = r#"trap '' HUP INT QUIT; exec "$@""#;
        let child = |runner: &[String], signal: &str| {
            let kills_itself = ["sh", "-c", "kill -$0 $$; echo survived", signal];
            let output = Command::new("sh").args(["-c", script, "sh"]).args(runner).args(kills_itself).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        for signal in ["HUP", "INT", "QUIT"] {
            assert_eq!((child(&[], signal).as_str(), child(&runner, signal).as_str()), ("survived", ""), "{signal}");
        }
    }
}
