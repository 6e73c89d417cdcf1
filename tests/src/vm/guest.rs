//! A virtual machine that boots a kernel, runs some commands, and turns itself off.
//!
//! Its root is the root of this machine, read-only below a layer in memory. So programs and libraries of this machine run in it, and find
//! the files that they find here. A machine of another architecture has packages of Debian as its root. Its network leads to this machine's
//! loopback, and nowhere else. qemu emulates its processors, because CI has no hardware virtualization: everything takes ten to thirty times
//! as long as here.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::architecture::Architecture;
use super::cpio::Cpio;
use super::kernel::{Unpacked, VmKernel};
use super::root::Root;
use crate::process::Process;
use crate::programs;
use crate::run_folder::RunFolder;
use crate::slowness;

/// Time limit until the first command runs. On an idle machine it takes four seconds.
const BOOTED_WITHIN: Duration = Duration::from_mins(3);
/// Time that a killed command has for its end, in seconds.
const KILLED_WITHIN: &str = "10";
/// Exit code of a command that `timeout` of coreutils has ended by SIGTERM, and of one that it had to kill.
const OVER_TIME: [i32; 2] = [124, 137];
/// How much longer waits of the commands may take than on this machine.
const SLOWNESS: &str = "20";
/// Memory of the machine. Files that commands write take half of it at most.
const MEMORY: &str = "2G";
const PROCESSORS: &str = "2";
/// The folder in the machine with the files of [`Guest::file`].
pub const GUEST_FILES: &str = "/run/vm";
/// Maximum number of lines of a log in an error.
const MOST_LINES: usize = 40;
const PURPOSE: &str = "to boot other kernels";

/// A machine that is not running yet.
#[derive(Debug)]
pub struct Guest {
    kernel: VmKernel,
    environment: Vec<(String, String)>,
    files: Vec<(&'static str, PathBuf)>,
}

/// A command for the machine.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its name in results.
    pub name: &'static str,
    /// The program, as a path or a name on the PATH, and its arguments.
    pub command: Vec<String>,
    /// The time after which it is ended.
    pub limit: Duration,
}

/// The results of all commands.
#[derive(Debug)]
pub struct Ran {
    /// The release of the kernel, as `uname -r` prints it.
    pub release: String,
    /// Seconds from the start of the kernel until the first command.
    pub booted: f64,
    /// The results, in the order of the commands.
    pub steps: Vec<StepEnd>,
}

/// The result of a command.
#[derive(Debug)]
pub struct StepEnd {
    /// The name of its [`Step`].
    pub name: &'static str,
    /// The exit code, as a shell reports it.
    pub code: i32,
    /// Its standard output and standard error.
    pub output: String,
    /// Its duration in seconds.
    pub seconds: f64,
}

impl StepEnd {
    /// Whether it had to be ended after its [`Step::limit`].
    pub fn is_over_time(&self) -> bool {
        OVER_TIME.contains(&self.code)
    }
}

impl Guest {
    /// A machine with this kernel. The environment of the commands has `WATCHTAP_TESTS_SLOWNESS`, and if programs of this machine run
    /// there, PATH and Cargo's folder of this process.
    pub fn with(kernel: VmKernel) -> Self {
        let fixed = [("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("RUST_BACKTRACE", "1"), (slowness::VARIABLE, SLOWNESS)];
        let environment = fixed.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { kernel, environment, files: Vec::new() }
    }

    /// Sets an environment variable of the commands.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Copies a file of this machine into the folder [`GUEST_FILES`], under this name.
    #[must_use]
    pub fn file(mut self, name: &'static str, path: PathBuf) -> Self {
        self.files.push((name, path));
        self
    }

    /// Boots the machine and runs the commands in it, one after the other, in the working directory of this process if that exists there.
    /// A command that fails does not keep the next one from running.
    ///
    /// The machine ends with this call, and with this process.
    ///
    /// # Errors
    ///
    /// If the kernel cannot be downloaded, or the machine does not run all commands to their ends. The error has the end of its console.
    pub fn run(&self, steps: &[Step]) -> Result<Ran> {
        let kernel = self.kernel.unpacked()?;
        let (root, folder) = (kernel.root(), RunFolder::create()?);
        let initramfs = folder.write("initramfs", initramfs(&kernel, &root)?)?;
        let shared = folder.path().join("shared");
        fs::create_dir(&shared)?;
        for (name, path) in &self.files {
            fs::copy(path, shared.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
        fs::write(shared.join("steps"), self.script(&root, steps)?)?;
        let console = folder.path().join("console");
        let limit = BOOTED_WITHIN + steps.iter().map(|step| step.limit).sum::<Duration>();
        let architecture = self.kernel.architecture();
        let qemu = programs::require(architecture.emulator(), PURPOSE)?;
        let files = [("-kernel", kernel.image()), ("-initrd", initramfs)];
        let arguments = arguments(architecture, &files, root.path(), &shared, &console);
        let log = folder.path().join("qemu.log");
        let mut qemu = Process::start("qemu", &qemu, &arguments, log.clone())?;
        let ended = qemu.wait(limit).and_then(|_status| ran(&shared, steps));
        ended.with_context(|| format!("kernel {}; qemu: {}; the console ends:\n{}", self.kernel.name(), tail(&log), tail(&console)))
    }

    /// The script of the commands, for the shell of busybox.
    fn script(&self, root: &Root, steps: &[Step]) -> Result<String> {
        let (timeout, folder) = (root.program("timeout")?, root.working_directory()?);
        let of_root = root.environment().into_iter().map(|(name, value)| (name.to_owned(), value));
        let variables = of_root.chain(self.environment.iter().cloned());
        let exports = variables.map(|(name, value)| format!("export {name}={}\n", quoted(&value)));
        let commands = steps.iter().enumerate().map(|(number, step)| {
            let words: Vec<String> = step.command.iter().map(|word| quoted(word)).collect();
            let bounded = format!("{} -k {KILLED_WITHIN} {}", quoted(&timeout.to_string_lossy()), step.limit.as_secs());
            format!(
                "cat /proc/uptime >/run/vm/{number}.begin\n\
                 {bounded} {} </dev/null >/run/vm/{number}.out 2>&1\n\
                 echo $? >/run/vm/{number}.code\n\
                 cat /proc/uptime >/run/vm/{number}.end\n",
                words.join(" ")
            )
        });
        let begin = format!("cd {}\n", quoted(&folder.to_string_lossy()));
        let end = "/run/busybox sync\n/run/busybox poweroff -f\n".to_owned();
        Ok([begin].into_iter().chain(exports).chain(commands).chain([end]).collect())
    }
}

fn arguments(architecture: Architecture, files: &[(&str, PathBuf)], root: &Path, shared: &Path, console: &Path) -> Vec<String> {
    let share = |tag: &str, path: &Path, more: &str| {
        let fsdev = format!("local,id={tag},path={},security_model=none{more}", path.display());
        ["-fsdev".to_owned(), fsdev, "-device".to_owned(), format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}")]
    };
    let fixed = "-accel tcg,thread=multi -display none -nodefaults -no-reboot";
    let parameters = format!("{} quiet loglevel=4 panic=-1 mitigations=off", architecture.parameters());
    let words = architecture.machine().split(' ').chain(fixed.split(' '));
    let mut arguments: Vec<String> = words.map(str::to_owned).collect();
    arguments.extend(["-smp", PROCESSORS, "-m", MEMORY, "-append", &parameters].map(str::to_owned));
    arguments.extend(["-serial".to_owned(), format!("file:{}", console.display())]);
    for (flag, file) in files {
        arguments.extend([(*flag).to_owned(), file.display().to_string()]);
    }
    arguments.extend(share("root", root, ",readonly=on,multidevs=remap"));
    arguments.extend(share("vm", shared, ""));
    arguments
}

/// The first root: busybox, the modules, and the first process.
fn initramfs(kernel: &Unpacked, root: &Root) -> Result<Vec<u8>> {
    let mut archive = Cpio::default();
    archive.add_file("init", include_bytes!("init"));
    archive.add_file("busybox", &busybox(root)?);
    archive.add_folder("modules");
    for module in fs::read_dir(kernel.modules())? {
        let module = module?;
        archive.add_file(&format!("modules/{}", module.file_name().to_string_lossy()), &fs::read(module.path())?);
    }
    Ok(archive.end())
}

/// The program in this root. Before the root is mounted, no library exists.
fn busybox(root: &Root) -> Result<Vec<u8>> {
    const LOADER: &[u8] = b"/ld-linux";
    let path = root.program_here("busybox")?;
    let program = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let is_dynamic = program.windows(LOADER.len()).any(|bytes| bytes == LOADER);
    ensure!(!is_dynamic, "{} needs libraries; install busybox-static", path.display());
    Ok(program)
}

/// Reads the results in the shared folder.
fn ran(shared: &Path, steps: &[Step]) -> Result<Ran> {
    let read = |name: &str| fs::read(shared.join(name)).with_context(|| format!("the machine has left no {name}"));
    let number = |text: Vec<u8>| {
        let text = String::from_utf8_lossy(&text).into_owned();
        text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok()).context("no number")
    };
    let release = String::from_utf8_lossy(&read("release").context("it has not booted")?).trim().to_owned();
    let booted = number(read("booted")?)?;
    let mut ends = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let output = String::from_utf8_lossy(&read(&format!("{at}.out"))?).into_owned();
        let Ok(code) = read(&format!("{at}.code")).and_then(number) else {
            bail!("{} did not end in {release}; its output so far:\n{output}", step.name);
        };
        let seconds = number(read(&format!("{at}.end"))?)? - number(read(&format!("{at}.begin"))?)?;
        #[expect(clippy::cast_possible_truncation, reason = "an exit code is below 256")]
        ends.push(StepEnd { name: step.name, code: code as i32, output, seconds });
    }
    Ok(Ran { release, booted, steps: ends })
}

/// The word as the shell reads it unchanged.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The last lines of a file.
fn tail(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.get(lines.len().saturating_sub(MOST_LINES)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_command_unchanged() {
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
