//! Runs a supervised command in a separate process, since a signal reaches the entire process, and all tests share one process.
//!
//! A test starts itself again in a new process. That process becomes the supervisor of a shell script and ends with its exit code.
//! The script prints the signals that it gets to standard error.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child as Process, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::child::{Child, Streams, exit_code};
use crate::signals::SignalStream;

/// A shell script that prints the name of every signal that it gets, and exits with 7 on SIGUSR1. It sleeps in between, a limited
/// number of times, so that it ends even if its test has failed.
const SCRIPT: &str = "
for signal in TERM INT HUP QUIT USR2; do trap \"echo $signal >&2\" $signal; done
trap 'echo USR1 >&2; exit 7' USR1
echo ready >&2
pauses=60
while [ $pauses -gt 0 ]; do pauses=$((pauses - 1)); sleep 1 2>&- & wait $!; done
";
/// The environment variable that marks the process that becomes the supervisor.
const MARK: &str = "WATCHTAP_TEST_SUPERVISES";
/// Maximum time between two lines of a script; after it, the test fails.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How to start the supervisor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Plain,
    /// As the leader of a session with its own terminal.
    AtTerminal,
    /// With SIGHUP ignored, as under nohup(1).
    WithoutHangups,
}

pub(super) struct Supervised {
    supervisor: Process,
    lines: Receiver<String>,
    terminal: Option<File>,
}

impl Supervised {
    /// Starts the supervisor. This must be the first call in the test named `test`, because it does not return in the supervisor's
    /// process.
    #[track_caller]
    pub(super) fn start(test: &str, start: Start) -> Self {
        if std::env::var_os(MARK).is_some() {
            supervise();
        }
        restore_defaults();
        let (terminal, input) = open_terminal();
        let mut supervisor = command(test, start).stdin(input).spawn().expect("the test can start itself");
        let words = BufReader::new(supervisor.stderr.take().expect("it is piped"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || words.lines().map_while(Result::ok).try_for_each(|word| sender.send(word)));
        let started = Self { supervisor, lines, terminal: Some(terminal) };
        started.expect("ready");
        started
    }

    /// Sends a signal to the supervisor alone.
    #[track_caller]
    pub(super) fn send(&self, signal: Signal) {
        let supervisor = i32::try_from(self.supervisor.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(supervisor, signal).expect("the supervisor lives");
    }

    /// Types keys on the supervisor's terminal.
    #[track_caller]
    pub(super) fn types(&mut self, keys: &str) {
        self.terminal.as_mut().expect("the terminal is there").write_all(keys.as_bytes()).expect("keys can be pressed");
    }

    /// Closes the terminal.
    pub(super) fn hangs_up(&mut self) {
        self.terminal = None;
    }

    /// Expects `expected` as the next line of the script.
    #[track_caller]
    pub(super) fn expect(&self, expected: &str) {
        assert_eq!(self.lines.recv_timeout(TIMEOUT).as_deref(), Ok(expected));
    }

    /// Ends the script with SIGUSR1, and expects no other line before that of SIGUSR1. So no earlier signal arrived twice.
    #[track_caller]
    pub(super) fn ends(mut self) {
        self.send(Signal::USR1);
        self.expect("USR1");
        assert_eq!(self.lines.recv_timeout(TIMEOUT), Err(RecvTimeoutError::Disconnected));
        let status = self.supervisor.wait().expect("it can be waited for");
        assert_eq!((status.code(), status.signal()), (Some(7), None));
    }
}

impl Drop for Supervised {
    /// Kills a supervisor that is still running after a failed test.
    fn drop(&mut self) {
        if matches!(self.supervisor.try_wait(), Ok(None)) {
            self.send(Signal::USR1);
        }
    }
}

/// Becomes the supervisor of the script.
fn supervise() -> ! {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let signals = SignalStream::open().expect("handlers");
    let status = runtime.block_on(async {
        let script = ["-c".into(), SCRIPT.into()];
        let child = Child::spawn(OsStr::new("/bin/sh"), &script, &[], Streams::Inherited, signals).expect("there is a shell");
        child.wait_forwarding(|| {}).await.expect("it can be waited for")
    });
    std::process::exit(exit_code(status).into());
}

fn command(test: &str, start: Start) -> Command {
    let this = std::env::current_exe().expect("a test is a program");
    let (program, arguments): (&OsStr, &[&str]) = match start {
        Start::Plain => (this.as_os_str(), &[]),
        Start::AtTerminal => (OsStr::new("setsid"), &["-c"]),
        Start::WithoutHangups => (OsStr::new("/bin/sh"), &["-c", "trap '' HUP; exec \"$0\" \"$@\""]),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if start != Start::Plain {
        command.arg(&this);
    }
    command.args(["--exact", test, "--nocapture"]).env(MARK, "1").stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Opens a pseudoterminal, and returns both of its ends: the test's, and the program's.
fn open_terminal() -> (File, OwnedFd) {
    let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("there are terminals");
    grantpt(&keyboard).and_then(|()| unlockpt(&keyboard)).expect("it is ours");
    let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
    let name = name.to_str().expect("its name is ASCII");
    let program = open_without_control(name);
    (keyboard.into(), program)
}

fn open_without_control(name: &str) -> OwnedFd {
    use std::os::unix::fs::OpenOptionsExt;
    let no_control = i32::try_from(OpenptFlags::NOCTTY.bits()).expect("a flag of open(2)");
    OpenOptions::new().read(true).write(true).custom_flags(no_control).open(name).expect("it can be opened").into()
}

/// Makes sure that child processes begin with default actions, even if the test runner ignores some signals (a script in the
/// background, nohup). A signal with a handler in this process has its default action again in the processes that it starts. These
/// handlers also perform the default action, so such a signal still ends the test process.
fn restore_defaults() {
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] {
        signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true))).expect("a handler");
    }
}
