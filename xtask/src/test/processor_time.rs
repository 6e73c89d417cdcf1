//! The processor time that a command took, with all processes that it started and waited for. Together with the seconds on the
//! clock, it shows which groups mostly wait.

use std::fs;
use std::time::Duration;

/// Parts of a second in which Linux reports processor time to programs (`USER_HZ`): 100 on each processor that runs these tests.
const TICKS_PER_SECOND: u64 = 100;

/// The processor time of a child whose output has ended, and which was not waited for yet. Zero on systems without `/proc`.
///
/// A process that was killed together with its parent belongs to neither, so its time is missing.
pub(super) fn of_child(process: u32) -> Duration {
    of_stat(&fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default()).unwrap_or_default()
}

/// The processor time of this process and of all children that it has waited for so far.
pub(super) fn so_far() -> Duration {
    of_stat(&fs::read_to_string("/proc/self/stat").unwrap_or_default()).unwrap_or_default()
}

/// The sum of the fields utime, stime, cutime and cstime of a `/proc/PID/stat` (`proc_pid_stat(5)`).
fn of_stat(stat: &str) -> Option<Duration> {
    // The second field is the name of the program, which may contain spaces and parentheses.
    let (_, after_name) = stat.rsplit_once(") ")?;
    let times = after_name.split(' ').skip(11).take(4).map(|field| field.parse::<u64>().ok());
    let ticks = times.sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_process_and_of_its_children_are_added() {
        let stat = "4711 (a b) c) S 1 4711 4711 0 -1 4194304 190 2000 0 0 100 20 3000 400 20 0 1 0 5000 0 0";
        assert_eq!(of_stat(stat), Some(Duration::from_millis(35_200)));
    }

    #[test]
    fn unreadable_times_are_none() {
        for stat in ["", "4711 (cargo) S 1 2", "4711 (cargo) S 1 4711 4711 0 -1 4194304 190 2000 0 0 a b c d"] {
            let none = of_stat(stat).filter(|time| !time.is_zero());
            assert_eq!(none, None, "{stat}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn time_of_an_ended_child_includes_its_own_children() {
        let script = "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); exec >&-";
        let mut child = std::process::Command::new("sh").args(["-c", script]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        let time = of_child(child.id());
        child.wait().unwrap();
        assert!(time > Duration::ZERO);
    }
}
