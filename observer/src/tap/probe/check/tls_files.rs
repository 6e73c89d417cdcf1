//! The programs and TLS libraries of the running processes, and whether a probe sees them.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use procfs::process::Process;

use crate::probe_check_result::{CheckProgress, CheckedFile, CheckedLibrary, CheckedProcess, NotExamined, Seen};
use crate::tap::probe::attach::{NotProbed, out_of_reach};
use crate::tap::probe::binary::{
    OpenSslFlavour, OpenSslProbePoints, Rustls, TlsLibrary, UnprobedLibrary, probe_points, read_program,
};
use crate::tap::probe::find::{FileIdentity, Libraries, OpenedFile, ProgramFile, program_files};

/// The files of all processes, and the processes that could not be examined.
#[derive(Debug, Default)]
struct Running {
    files: BTreeMap<FileIdentity, RunFile>,
    not_examined: BTreeMap<String, Vec<CheckedProcess>>,
}

/// A file and the processes that run it.
#[derive(Debug)]
struct RunFile {
    name: String,
    /// One path through each process, since a process may be gone.
    ways: Vec<ProgramFile>,
    processes: Vec<CheckedProcess>,
}

/// The files that have a TLS library or cannot be read, unseen ones first; and the processes that could not be examined.
pub(super) fn checked_files(progress: &mut dyn FnMut(CheckProgress<'_>)) -> (Vec<CheckedFile>, Vec<NotExamined>) {
    let mut running = Running::default();
    let mut libraries = Libraries::default();
    for process in processes() {
        let files = program_files(process.pid, &mut libraries);
        running.add(process, files);
    }
    let of = running.files.len();
    let mut checked = Vec::new();
    for (index, file) in running.files.into_values().enumerate() {
        progress(CheckProgress::Program { index: index + 1, of, name: &file.name });
        checked.extend(file.check());
    }
    checked.sort_by(|one, other| (one.seen, &one.name, &one.processes).cmp(&(other.seen, &other.name, &other.processes)));
    let not_examined = running.not_examined.into_iter().map(|(why, processes)| NotExamined { why, processes });
    (checked, not_examined.collect())
}

/// `PF_KTHREAD` of Linux `include/linux/sched.h`, 6.18: a kernel thread, which runs no program.
const OF_THE_KERNEL: u32 = 0x0020_0000;

/// All processes except this one and kernel threads, by PID.
fn processes() -> Vec<CheckedProcess> {
    let numbers = fs::read_dir("/proc").into_iter().flatten();
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<u32> = numbers.filter(|number| *number != std::process::id() && !is_of_the_kernel(*number)).collect();
    numbers.sort_unstable();
    // A process that is gone has no name, and will have no files.
    let named = numbers.into_iter().filter_map(|pid| {
        let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
        Some(CheckedProcess { pid, name: String::from_utf8_lossy(&name).trim_end().to_owned() })
    });
    named.collect()
}

/// Whether a process is a kernel thread. Every user may read this of any process.
fn is_of_the_kernel(process: u32) -> bool {
    let stat = i32::try_from(process).ok().and_then(|number| Process::new(number).ok()?.stat().ok());
    stat.is_some_and(|stat| stat.flags & OF_THE_KERNEL != 0)
}

impl Running {
    fn add(&mut self, process: CheckedProcess, files: io::Result<Vec<ProgramFile>>) {
        let files = match files {
            Ok(files) => files,
            // The process is gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH) => return,
            Err(error) => {
                // Some of the files report this with an error number, others without.
                let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
                let why = if is_denied { "permission denied".to_owned() } else { error.to_string() };
                return self.not_examined.entry(why).or_default().push(process);
            }
        };
        for file in files {
            let run = self.files.entry(file.identity);
            let run = run.or_insert_with(|| RunFile { name: file.name.clone(), ways: Vec::new(), processes: Vec::new() });
            run.ways.push(file);
            run.processes.push(process.clone());
        }
    }
}

impl RunFile {
    /// `None` if no process has the file any more, or it contains no TLS library.
    fn check(self) -> Option<CheckedFile> {
        let mut libraries = self.ways.iter().map(libraries);
        let libraries = libraries.find(|found| !found.as_ref().is_err_and(NotProbed::is_gone))?;
        let Self { name, processes, .. } = self;
        match libraries {
            Ok(libraries) if libraries.is_empty() => None,
            Ok(libraries) => {
                let (seen, why) = seen(&libraries);
                Some(CheckedFile { name, seen, why, libraries: libraries.iter().map(CheckedLibrary::of).collect(), processes })
            }
            Err(error) => {
                Some(CheckedFile { name, seen: Seen::Not, why: Some(error.to_string()), libraries: Vec::new(), processes })
            }
        }
    }
}

fn libraries(file: &ProgramFile) -> Result<Vec<TlsLibrary>, NotProbed> {
    let opened = OpenedFile::of(file)?;
    Ok(probe_points(&read_program(opened.path())?)?)
}

fn seen(libraries: &[TlsLibrary]) -> (Seen, Option<String>) {
    let why: Vec<String> = libraries.iter().filter_map(out_of_reach).map(|why| why.to_string()).collect();
    if why.is_empty() {
        return (Seen::Fully, None);
    }
    let seen = if libraries.iter().any(is_probed) { Seen::Partly } else { Seen::Not };
    (seen, Some(why.join("; ")))
}

fn is_probed(library: &TlsLibrary) -> bool {
    match library {
        TlsLibrary::GoCryptoTls(_) => true,
        TlsLibrary::OpenSsl(points) => !functions(points).is_empty(),
        TlsLibrary::Unprobed(_) => false,
    }
}

impl CheckedLibrary {
    fn of(library: &TlsLibrary) -> Self {
        match library {
            TlsLibrary::GoCryptoTls(points) => {
                Self { name: "Go crypto/tls", version: Some(points.version.to_string()), functions: Vec::new() }
            }
            TlsLibrary::OpenSsl(points) => Self {
                name: match points.flavour {
                    OpenSslFlavour::OpenSsl => "OpenSSL",
                    OpenSslFlavour::BoringSsl => "BoringSSL",
                    OpenSslFlavour::Unknown => "like OpenSSL",
                },
                version: None,
                functions: functions(points),
            },
            TlsLibrary::Unprobed(library) => {
                let version = if let UnprobedLibrary::Rustls(Rustls { version }) = library { version.clone() } else { None };
                Self { name: library.name(), version, functions: Vec::new() }
            }
        }
    }
}

fn functions(points: &OpenSslProbePoints) -> Vec<&'static str> {
    let calls = [
        ("SSL_write", &points.write),
        ("SSL_read", &points.read),
        ("SSL_write_ex", &points.write_ex),
        ("SSL_read_ex", &points.read_ex),
    ];
    calls.into_iter().filter(|(_, probes)| probes.is_some()).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tap::probe::binary::RefusedFunction;

    fn process(pid: u32) -> CheckedProcess {
        CheckedProcess { pid, name: format!("p{pid}") }
    }

    fn file(identity: FileIdentity, path: &str) -> ProgramFile {
        ProgramFile { identity, path: path.into(), name: "/bin/program".to_owned() }
    }

    fn openssl(refused: &[&'static str]) -> TlsLibrary {
        TlsLibrary::OpenSsl(OpenSslProbePoints {
            flavour: OpenSslFlavour::BoringSsl,
            linkage: crate::tap::probe::binary::OpenSslLinkage::Static,
            write: None,
            read: None,
            write_ex: None,
            read_ex: None,
            shutdown: None,
            free: None,
            refused: refused.iter().map(|function| RefusedFunction { function, reason: "it is odd" }).collect(),
        })
    }

    #[test]
    fn only_forbidden_processes_are_counted_as_not_examined() {
        let mut running = Running::default();
        for (pid, error) in [
            (1, io::Error::from(io::ErrorKind::PermissionDenied)),
            (2, io::ErrorKind::NotFound.into()),
            (3, io::Error::from_raw_os_error(libc::EACCES)),
            (4, io::Error::from_raw_os_error(libc::ESRCH)),
        ] {
            running.add(process(pid), Err(error));
        }
        let expected = BTreeMap::from([("permission denied".to_owned(), vec![process(1), process(3)])]);
        assert_eq!((running.not_examined, running.files.len()), (expected, 0));
    }

    #[test]
    fn shared_file_is_examined_once_through_a_live_process() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("text");
        fs::write(&text, "no program").unwrap();
        let identity = FileIdentity::of(&text).unwrap();
        let mut running = Running::default();
        running.add(process(1), Ok(vec![file(identity, "/proc/0/exe")]));
        running.add(process(2), Ok(vec![file(identity, text.to_str().unwrap())]));
        let [run] = <[RunFile; 1]>::try_from(running.files.into_values().collect::<Vec<_>>()).unwrap();
        let checked = run.check().unwrap();
        assert_eq!(
            (checked.name.as_str(), checked.seen, checked.processes),
            ("/bin/program", Seen::Not, vec![process(1), process(2)])
        );
        assert!(checked.why.as_deref().unwrap().contains("not a program that can be probed"), "{:?}", checked.why);
    }

    #[test]
    fn kernel_threads_and_own_process_are_left_out() {
        assert!(!is_of_the_kernel(std::process::id()));
        let own = std::process::id();
        assert!(processes().iter().all(|process| process.pid != own && process.name != "kthreadd"));
    }

    #[test]
    fn file_of_exited_processes_is_left_out() {
        let mut running = Running::default();
        running.add(process(1), Ok(vec![file(FileIdentity { device: 1, inode: 7, born: None }, "/proc/0/exe")]));
        assert_eq!(running.files.into_values().find_map(RunFile::check), None);
    }

    #[test]
    fn unprobeable_libraries_decide_the_visibility() {
        let rustls = UnprobedLibrary::Rustls(Rustls { version: Some("0.23.40".to_owned()) });
        let why = |library: &UnprobedLibrary| Some(format!("{}; use the proxy for this client", library.reason()));
        for (libraries, expected) in [
            (vec![TlsLibrary::Unprobed(rustls.clone())], (Seen::Not, why(&rustls))),
            (vec![TlsLibrary::Unprobed(UnprobedLibrary::Java)], (Seen::Not, why(&UnprobedLibrary::Java))),
            (vec![openssl(&["SSL_write"])], (Seen::Not, Some("cannot probe SSL_write: it is odd".to_owned()))),
            (vec![openssl(&["SSL_free"])], (Seen::Fully, None)),
        ] {
            assert_eq!(seen(&libraries), expected, "{libraries:?}");
        }
        for (library, name, version) in [(rustls, "rustls", Some("0.23.40".to_owned())), (UnprobedLibrary::GnuTls, "GnuTLS", None)]
        {
            let checked = CheckedLibrary::of(&TlsLibrary::Unprobed(library));
            assert_eq!(checked, CheckedLibrary { name, version, functions: Vec::new() });
        }
    }

    #[test]
    fn file_with_an_unprobeable_function_is_partly_seen() {
        let read = crate::tap::probe::binary::CallProbes {
            entry: crate::tap::probe::binary::ProbePoint { offset: 1, execution: crate::tap::probe::binary::Execution::Emulated },
            returns: Vec::new(),
        };
        let TlsLibrary::OpenSsl(points) = openssl(&["SSL_write"]) else { panic!("it is of OpenSSL's kind") };
        let library = TlsLibrary::OpenSsl(OpenSslProbePoints { read: Some(read), ..points });
        assert_eq!(seen(std::slice::from_ref(&library)).0, Seen::Partly);
        assert_eq!(CheckedLibrary::of(&library).functions, ["SSL_read"]);
    }
}
