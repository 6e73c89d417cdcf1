//! `watchtap probe --check` on this machine, as root and as an unprivileged user.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};

use observer_tests::watchtap;
use serde_json::Value;

use super::clients::python;

/// Loads its TLS library, prints its version, and waits until its input closes.
const WAITING: &str = "
import ssl, sys
print(ssl.OPENSSL_VERSION, flush=True)
sys.stdin.read()
";

/// A process that runs until this value is dropped.
struct Waiting {
    child: Child,
    input: Option<ChildStdin>,
}

impl Waiting {
    fn start() -> Self {
        let mut child = python(WAITING, &[]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        let input = child.stdin.take();
        Self { child, input }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.input.take());
        // Its input is closed, so it exits.
        let _ended = self.child.wait();
    }
}

#[test]
fn check_as_root_passes_and_finds_tls_libraries() {
    let python = Waiting::start();
    let left = watchtap().unwrap().args(["probe", "--check", "--format", "json"]).output().unwrap();
    assert!(left.status.success(), "{}", text(&left));
    let output: Value = serde_json::from_slice(&left.stdout).unwrap();
    assert_eq!((&output["schema"], &output["can_probe"]), (&"watchtap.probe-check/v1".into(), &true.into()));
    let requirements = output["requirements"].as_array().unwrap();
    assert!(requirements.len() > 15, "{output:#}");
    let is_there = |row: &&Value| ["Met", "DoesNotMatter"].contains(&row["state"].as_str().unwrap());
    let lacking = requirements.iter().filter(|row| !is_there(row)).map(|row| (row["name"].clone(), row["state"].clone()));
    let namespace: &[_] = if is_in_a_container() { &[("initial PID namespace".into(), "Limits".into())] } else { &[] };
    assert_eq!(lacking.collect::<Vec<(Value, Value)>>(), namespace);

    let files = output["files"].as_array().unwrap();
    let of_process = |file: &&Value, pid: u32| file["processes"].as_array().unwrap().iter().any(|process| process["pid"] == pid);
    let of_python: Vec<&Value> = files.iter().filter(|file| of_process(file, python.child.id())).collect();
    let [library] = of_python.as_slice() else { panic!("{files:#?}") };
    assert!(library["name"].as_str().unwrap().contains("libssl"), "{library:#}");
    assert_eq!((&library["seen"], &library["libraries"][0]["name"]), (&"Fully".into(), &"OpenSSL".into()), "{library:#}");

    // The test program uses rustls.
    let own: Vec<&Value> = files.iter().filter(|file| of_process(file, std::process::id())).collect();
    let [own] = own.as_slice() else { panic!("{files:#?}") };
    assert_eq!((&own["seen"], &own["libraries"][0]["name"]), (&"Not".into(), &"rustls".into()), "{own:#}");
    assert!(own["why"].as_str().unwrap().contains("use the proxy"), "{own:#}");
}

#[test]
fn missing_rights_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let output = as_unprivileged_user(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let text = text(&output);
    assert!(text.starts_with("This machine cannot be probed"), "{text}");
    for row in ["CAP_BPF", "CAP_PERFMON", "eBPF programs are loaded"] {
        assert!(text.lines().any(|line| line.starts_with("missing") && line.contains(row)), "{row}: {text}");
    }
    assert!(text.contains("remedy: run it as root"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("not examined: ") && line.ends_with("(permission denied)")), "{text}");
    assert!(output.stderr.is_empty(), "{text}");
}

#[test]
fn capabilities_in_the_help_are_enough_without_root() {
    let folder = tempfile::tempdir().unwrap();
    for (capabilities, limits) in [
        (&["bpf", "perfmon"][..], 3),
        (&["bpf", "perfmon", "sys_ptrace"], 2),
        (&["bpf", "perfmon", "sys_ptrace", "dac_read_search"], 1),
        (&["bpf", "perfmon", "sys_ptrace", "dac_read_search", "checkpoint_restore"], 0),
        (&["sys_admin"], 2),
    ] {
        let output = as_unprivileged_user(folder.path(), capabilities);
        let text = text(&output);
        assert_eq!(output.status.code(), Some(0), "{capabilities:?}: {text}");
        let found = text.lines().filter(|line| line.starts_with("limits")).count();
        assert_eq!(found, limits + usize::from(is_in_a_container()), "{capabilities:?}: {text}");
        assert!(!text.lines().any(|line| line.starts_with("missing") || line.starts_with("unknown")), "{capabilities:?}: {text}");
    }
}

/// The probe raises its own limit, and only a process with this right may do so.
#[test]
fn low_limit_of_locked_memory_matters_only_before_linux_5_11_and_without_sys_resource() {
    let check = |rights: &[&str]| -> Value {
        let mut check = Command::new("prlimit");
        check.arg("--memlock=65536:65536").args(rights).arg(watchtap().unwrap().get_program());
        let output = check.args(["probe", "--check", "--format", "json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)))
    };
    let missing = |check: &Value| -> Vec<String> {
        let rows = check["requirements"].as_array().unwrap().iter().filter(|row| row["state"] == "Missing");
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let without = check(&["setpriv", "--inh-caps=-sys_resource", "--bounding-set=-sys_resource"]);
    let expected: &[&str] = if counts_locked_memory() { &["eBPF programs are loaded"] } else { &[] };
    assert_eq!(missing(&without), expected, "{without:#}");
    if counts_locked_memory() {
        let with = check(&[]);
        assert_eq!(missing(&with), [""; 0], "{with:#}");
    }
}

/// Whether the kernel counts the memory of maps as locked memory, as those before 5.11.
fn counts_locked_memory() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let numbers: Vec<u32> = release.split(['.', '-']).map_while(|number| number.parse().ok()).take(2).collect();
    numbers < vec![5, 11]
}

/// Whether this PID namespace differs from the initial one (`PROC_PID_INIT_INO` of Linux `include/linux/proc_ns.h`), which is a
/// limitation too.
fn is_in_a_container() -> bool {
    std::fs::read_link("/proc/self/ns/pid").unwrap() != Path::new("pid:[4026531836]")
}

/// Runs the check as user `nobody` with these capabilities, from a copy of the program that every user may execute.
fn as_unprivileged_user(folder: &Path, capabilities: &[&str]) -> Output {
    let program = folder.join("watchtap");
    if !program.exists() {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        // A separate process writes the copy. Otherwise, a child that another thread starts could inherit the writable descriptor,
        // and the file could not be executed.
        assert!(Command::new("cp").arg(watchtap().unwrap().get_program()).arg(&program).status().unwrap().success());
    }
    let set: String =
        ["-all".to_owned()].into_iter().chain(capabilities.iter().map(|one| format!("+{one}"))).collect::<Vec<_>>().join(",");
    let rights = [format!("--inh-caps={set}"), format!("--ambient-caps={set}")];
    let mut check = Command::new("setpriv");
    check.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).args(rights).arg(program);
    check.args(["probe", "--check"]).output().unwrap()
}

fn text(left: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&left.stdout), String::from_utf8_lossy(&left.stderr))
}
