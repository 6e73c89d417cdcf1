//! Processes on a node with a TLS library that only some rights reach.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use observer_tests::node::Node;
use serde_json::Value;
use tempfile::TempDir;

/// The installed library, of which each process has a copy.
const INSTALLED: [&str; 3] =
    ["/usr/lib/x86_64-linux-gnu/libssl.so.3", "/usr/lib64/libssl.so.3", "/usr/lib/aarch64-linux-gnu/libssl.so.3"];
/// A user that no other process has.
const USER: u32 = 59_700;
/// Loads a library, and then deletes it or becomes the only user who may read it. Sends each line of its input as a request on a new
/// connection, and prints the first line of the answer. Ends with its input.
const SCRIPT: &str = "
import ctypes, json, os, socket, sys
library, step, host = sys.argv[1:]
tls = ctypes.CDLL(library)
for name in ('TLS_client_method', 'SSL_CTX_new', 'SSL_new'):
    getattr(tls, name).restype = ctypes.c_void_p
def pointer(value):
    return ctypes.c_void_p(value)
def answer(request):
    with socket.socket() as connection:
        connection.connect((host, 443))
        session = pointer(tls.SSL_new(context))
        assert tls.SSL_set_fd(session, connection.fileno()) == 1 and tls.SSL_connect(session) == 1
        assert tls.SSL_write(session, request, len(request)) == len(request)
        answered, part = b'', ctypes.create_string_buffer(65536)
        while (length := tls.SSL_read(session, part, len(part))) > 0:
            answered += part.raw[:length]
        tls.SSL_free(session)
        return answered
# It verifies no certificate.
context = pointer(tls.SSL_CTX_new(pointer(tls.TLS_client_method())))
if step == 'delete':
    os.unlink(library)
else:
    os.chown(library, int(step), int(step))
    os.chmod(library, 0o600)
    os.setgroups([])
    os.setgid(int(step))
    os.setuid(int(step))
print(os.getpid(), flush=True)
for line in sys.stdin:
    print(answer(json.loads(line).encode()).split(b'\\r\\n')[0].decode(), flush=True)
";

/// A process that has loaded its own copy of the library.
pub(super) struct Witness {
    process: Child,
    output: BufReader<ChildStdout>,
    pid: u32,
    library: PathBuf,
    _folder: TempDir,
}

impl Witness {
    /// The process of another user, whose library only that user may read.
    pub(super) fn of_another_user(node: &Node) -> Self {
        Self::start(node, &USER.to_string())
    }

    /// A process whose library was deleted after it was loaded, as by an upgrade.
    pub(super) fn of_a_deleted_library(node: &Node) -> Self {
        Self::start(node, "delete")
    }

    fn start(node: &Node, step: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libssl.so.3");
        let installed =
            INSTALLED.iter().find(|path| Path::new(path).exists()).unwrap_or_else(|| panic!("the group needs libssl.so.3"));
        fs::copy(installed, &library).unwrap();
        let mut command = node.command(Path::new("python3")).unwrap();
        command.args(["-c", SCRIPT]).arg(&library).args([step, node.server_url().trim_start_matches("https://")]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut started = Self { process, output, pid: 0, library, _folder: folder };
        started.pid = started.line().parse().unwrap();
        started
    }

    /// Gets this path of the API server, as a client with this user agent.
    #[track_caller]
    pub(super) fn get(&mut self, path: &str, user_agent: &str, token: &str) {
        let fields = format!("Host: node\r\nUser-Agent: {user_agent}\r\nAuthorization: Bearer {token}\r\nConnection: close");
        let request = Value::from(format!("GET {path} HTTP/1.1\r\n{fields}\r\n\r\n"));
        writeln!(self.process.stdin.as_ref().unwrap(), "{request}").unwrap();
        assert_eq!(self.line(), "HTTP/1.1 200 OK");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Its PID on the node.
    pub(super) const fn pid(&self) -> u32 {
        self.pid
    }

    /// The path of its library.
    pub(super) fn library(&self) -> &str {
        self.library.to_str().unwrap()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // Its input closes, so it exits.
        drop(self.process.stdin.take());
        self.process.wait().ok();
    }
}
