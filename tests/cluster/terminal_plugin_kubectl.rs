//! An exec plugin that requires a terminal: `interactiveMode: Always`.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use observer_tests::{Cluster, Lines, Terminal, kubectl, output_within, wait_within, watchtap};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: [&str; 4] = ["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"];
/// Prompts on the terminal of its session, and checks whether its standard input is that terminal, too.
const ASKS: &str = "test -t 0 || exit 9; echo PIN? > /dev/tty; read -r pin < /dev/tty; test \"$pin\" = 4711 || exit 8; echo run";

#[test]
fn plugin_under_watchtap_prompts_the_user_at_the_terminal() {
    let place = Fixture::new();
    let (mut terminal, input) = Terminal::open(LIMIT).unwrap();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(watchtap().unwrap().get_program()).args(["exec", "--"]).args(place.whoami());
    place.lead(&mut command);
    let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Only the child processes keep the terminal's other side open.
    drop(command);
    let (shown, output) = (Lines::of(child.stdout.take().unwrap(), LIMIT), Lines::of(child.stderr.take().unwrap(), LIMIT));

    let asked = terminal.next_line().unwrap();
    assert_eq!(asked.as_deref().map(str::trim_end), Some("PIN?"), "{:?}", output.next_line());
    terminal.type_line("4711").unwrap();
    assert_eq!(shown.next_line().unwrap().as_deref(), Some("admin"), "{:?}", output.next_line());
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
}

#[test]
fn without_a_terminal_kubectl_fails_as_it_does_directly() {
    let place = Fixture::new();
    let run = |mut command: Command| {
        place.lead(&mut command);
        output_within(command.stdin(Stdio::null()), LIMIT).unwrap()
    };
    let mut direct = Command::new(&place.kubectl);
    direct.args(WHOAMI);
    let mut through_watchtap = watchtap().unwrap();
    through_watchtap.args(["exec", "--"]).args(place.whoami());
    let output = |output: &Output| {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = stderr.lines().find(|line| line.contains("exec plugin")).map(str::to_owned);
        (output.status.code(), line.unwrap_or_else(|| panic!("nothing of a plugin: {stderr}")))
    };
    let (direct, through_watchtap) = (run(direct), run(through_watchtap));
    assert_eq!(output(&direct), output(&through_watchtap));
    assert_eq!(direct.status.code(), Some(1));
}

struct Fixture {
    folder: TempDir,
    kubeconfig: PathBuf,
    kubectl: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let text = fs::read_to_string(Cluster::shared().unwrap().kubeconfig_exec_token().unwrap()).unwrap();
        let asking = text.replace("echo run", &ASKS.replace('"', "\\\"")).replace("IfAvailable", "Always");
        assert!(asking.contains("4711") && asking.contains("Always"), "{text}");
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, asking).unwrap();
        Self { folder, kubeconfig, kubectl: kubectl().expect("kubectl is on the PATH") }
    }

    fn whoami(&self) -> impl Iterator<Item = &OsStr> {
        std::iter::once(self.kubectl.as_os_str()).chain(WHOAMI.map(OsStr::new))
    }

    fn lead(&self, command: &mut Command) {
        command.env("KUBECONFIG", &self.kubeconfig).env("HOME", self.folder.path());
    }
}
