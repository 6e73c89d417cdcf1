//! A watchtap that runs as the sidecar of a pod, without kubelet: the volumes are folders, and mounts put them in place.
//!
//! Its process is as restricted as in a pod. It is the first process of its own PID namespace, with the UID of the image and
//! without capabilities. It cannot write to its root, has no `/tmp`, and no variables but those of the kubelet. Root is needed to
//! make that.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::bounded::{Lines, wait_within};
use crate::memory_cgroup::MemoryCgroup;
use crate::process_usage::ProcessUsage;
use crate::programs;

/// A longer wait for a line or for the exit counts as a hang.
const LIMIT: Duration = Duration::from_secs(30);

/// The user and group of the sidecar in a pod. A test compares it with that of `watchtap inject`.
pub const USER: u32 = 59643;

/// Makes the pod's mounts around the sidecar. `$1` is the folder of [`Volumes`], `$2` the program, `$3` is [`USER`]; what follows are
/// arguments of `watchtap run --in-cluster`.
const IN_POD: &str = r#"
set -e
volumes=$1 program=$2 user=$3
shift 3
mount -t tmpfs -o mode=0755 pod /run
mkdir -p /run/secrets/watchtap/own /run/secrets/watchtap/trust /run/secrets/kubernetes.io/serviceaccount
mount --bind "$volumes/own" /run/secrets/watchtap/own
mount --bind "$volumes/trust" /run/secrets/watchtap/trust
mount --bind "$volumes/cluster" /run/secrets/kubernetes.io/serviceaccount
mount -o remount,bind,ro /run/secrets/kubernetes.io/serviceaccount
touch /run/watchtap
mount --bind "$program" /run/watchtap
mount --bind "$volumes/resolv.conf" /etc/resolv.conf
mount -t tmpfs -o ro pod /tmp
mount -o remount,bind,ro /run
mount -o remount,bind,ro /
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- \
    env --default-signal -u PATH /run/watchtap run --in-cluster "$@"
"#;

/// Makes the mounts of an app's container, and runs `$2` there.
const IN_APP: &str = r#"
set -e
mount -t tmpfs -o mode=0755 pod /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount /run/secrets/watchtap/serviceaccount
mount --bind "$1/trust" /run/secrets/kubernetes.io/serviceaccount
mount -o remount,bind,ro /run/secrets/kubernetes.io/serviceaccount
mount --bind "$1/moved" /run/secrets/watchtap/serviceaccount
exec sh -c "$2"
"#;

/// The volumes of a pod, which outlive its containers.
#[derive(Debug)]
pub struct Volumes(TempDir);

/// The sidecar of a pod. Dropping it kills the process.
#[derive(Debug)]
pub struct Sidecar {
    /// `unshare`, which ends with the sidecar and as the sidecar does.
    child: Child,
    watchtap: Pid,
    stdout: Lines,
    stderr: Lines,
}

impl Volumes {
    /// The volumes of a new pod in a cluster with this CA (PEM); `None` where mounts and users cannot be made, which is reported.
    pub fn new(cluster_ca: &str) -> Result<Option<Self>> {
        if !geteuid().is_root() {
            writeln!(std::io::stdout().lock(), "left out: a pod's mounts and users need root")?;
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        // The sidecar's user has to get through.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
        let volumes = Self(folder);
        for name in ["own", "trust"] {
            // As the kubelet makes an emptyDir.
            fs::create_dir(volumes.path(name))?;
            fs::set_permissions(volumes.path(name), Permissions::from_mode(0o777))?;
        }
        fs::create_dir(volumes.path("cluster"))?;
        fs::write(volumes.path("resolv.conf"), "search shop.svc.corp.example svc.corp.example corp.example\n")?;
        fs::create_dir(volumes.path("moved"))?;
        volumes.publish_cluster_ca(cluster_ca)?;
        symlink("..data/ca.crt", volumes.path("cluster/ca.crt"))?;
        Ok(Some(volumes))
    }

    /// The path of a volume on this machine: `own`, `trust`, `cluster`, or `moved`, in which an app has its token.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Replaces the cluster's CA as the kubelet does: it swaps a link.
    pub fn publish_cluster_ca(&self, pem: &str) -> Result<()> {
        let folder =
            tempfile::Builder::new().prefix("..").permissions(Permissions::from_mode(0o755)).tempdir_in(self.path("cluster"))?;
        let folder = folder.keep();
        fs::write(folder.join("ca.crt"), pem)?;
        symlink(folder.file_name().context("a name")?, self.path("cluster/..data_tmp"))?;
        Ok(fs::rename(self.path("cluster/..data_tmp"), self.path("cluster/..data"))?)
    }

    /// The certificates that clients trust, PEM; empty before they are written.
    pub fn trusted(&self) -> String {
        fs::read_to_string(self.path("trust/ca.crt")).unwrap_or_default()
    }

    /// The output of a shell command in an app's container, whose variables are those of this process.
    pub fn in_app(&self, command: &str) -> Result<String> {
        let output =
            Command::new("unshare").args(["--mount", "sh", "-c", IN_APP, "sh"]).arg(self.0.path()).arg(command).output()?;
        if !output.status.success() {
            bail!("{command}: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Sidecar {
    /// Starts the sidecar of the pod with these volumes. `arguments` follow `run --in-cluster`.
    pub fn start(volumes: &Volumes, api_server: SocketAddr, arguments: &[&str]) -> Result<Self> {
        Self::start_with(volumes, &kubelet_variables(api_server), arguments)
    }

    /// The same in a cgroup with a memory limit, as the container of a pod.
    pub fn start_in(cgroup: &MemoryCgroup, volumes: &Volumes, api_server: SocketAddr, arguments: &[&str]) -> Result<Self> {
        Self::start_by(cgroup.enter("unshare"), volumes, &kubelet_variables(api_server), arguments)
    }

    /// The same with other variables than those of the kubelet.
    pub fn start_with(volumes: &Volumes, variables: &[(&str, String)], arguments: &[&str]) -> Result<Self> {
        Self::start_by(Command::new("unshare"), volumes, variables, arguments)
    }

    /// `command` is `unshare` without arguments.
    fn start_by(mut command: Command, volumes: &Volumes, variables: &[(&str, String)], arguments: &[&str]) -> Result<Self> {
        command.args(["--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", IN_POD, "sh"]);
        command.arg(volumes.0.path()).arg(programs::built("watchtap")?).arg(USER.to_string()).args(arguments);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs(variables.iter().map(|(name, value)| (name, value)));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stdout = Lines::of(child.stdout.take().context("stdout is a pipe")?, LIMIT);
        let stderr = Lines::of(child.stderr.take().context("stderr is a pipe")?, LIMIT);
        let watchtap = loop {
            if let Some(pid) = first_child(child.id())? {
                break pid;
            }
            if child.try_wait()?.is_some() {
                bail!("unshare failed: {}", rest(&stderr)?);
            }
            std::thread::yield_now();
        };
        Ok(Self { child, watchtap, stdout, stderr })
    }

    /// Reads stderr until a line contains `words`, and returns that line.
    pub fn stderr_line_with(&self, words: &str) -> Result<String> {
        line_with(&self.stderr, words)
    }

    /// Reads stdout until a line contains `words`, and returns that line.
    pub fn line_with(&self, words: &str) -> Result<String> {
        line_with(&self.stdout, words)
    }

    /// Sends a signal, as the container runtime does from another PID namespace.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(self.watchtap, signal)?)
    }

    /// Waits for the exit. Returns its status, and the rest of stdout and stderr.
    pub fn wait(&mut self) -> Result<(ExitStatus, String, String)> {
        let status = wait_within(&mut self.child, LIMIT)?;
        Ok((status, rest(&self.stdout)?, rest(&self.stderr)?))
    }

    /// The present memory, descriptors and processor time.
    pub fn usage(&self) -> Result<ProcessUsage> {
        ProcessUsage::of(u32::try_from(self.watchtap.as_raw_nonzero().get())?)
    }
}

impl Drop for Sidecar {
    fn drop(&mut self) {
        // `unshare` ends after the sidecar, so that the sidecar's port is free then.
        if matches!(self.child.try_wait(), Ok(None)) {
            kill_process(self.watchtap, Signal::KILL).ok();
        }
        self.child.wait().ok();
    }
}

/// The variables that the kubelet gives the sidecar for an API server.
pub fn kubelet_variables(api_server: SocketAddr) -> [(&'static str, String); 2] {
    [("KUBERNETES_SERVICE_HOST", api_server.ip().to_string()), ("KUBERNETES_SERVICE_PORT", api_server.port().to_string())]
}

/// The first child of a process; `None` before it has one.
fn first_child(pid: u32) -> Result<Option<Pid>> {
    let path = PathBuf::from(format!("/proc/{pid}/task/{pid}/children"));
    let children = if path.exists() { fs::read_to_string(&path)? } else { String::new() };
    let first = children.split_whitespace().next().map(str::parse).transpose()?;
    Ok(first.and_then(Pid::from_raw))
}

fn line_with(lines: &Lines, words: &str) -> Result<String> {
    let mut said = Vec::new();
    while let Some(line) = lines.next_line()? {
        if line.contains(words) {
            return Ok(line);
        }
        said.push(line);
    }
    bail!("no line with {words:?} in:\n{}", said.join("\n"))
}

fn rest(lines: &Lines) -> Result<String> {
    let mut said = String::new();
    while let Some(line) = lines.next_line()? {
        said.push_str(&line);
        said.push('\n');
    }
    Ok(said)
}

/// Whether a path is a regular file with these permission bits.
pub fn has_mode(path: &Path, mode: u32) -> Result<bool> {
    let metadata = fs::symlink_metadata(path)?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o7777 == mode)
}
