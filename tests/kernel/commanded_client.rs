//! A client that waits for commands.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use observer_demo::DemoServer;

/// Sets its process name if one is given, and changes its root directory if `NEW_ROOT` is set. Each line of its input is a number:
/// it sends that many requests on one connection, and then prints a line.
const SCRIPT: &str = "
import email.parser, encodings.idna, http.client, os, ssl, sys
host, authority, token, *name = sys.argv[1:]
if name:
    open('/proc/self/comm', 'w').write(name[0])
connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cadata=authority))
if 'NEW_ROOT' in os.environ:
    os.chroot(os.environ['NEW_ROOT'])
print('ready', flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        connection.request('GET', '/version', headers={'Authorization': 'Bearer ' + token})
        connection.getresponse().read()
    print('asked', flush=True)
";

/// A running Python client that has sent no request yet.
pub(crate) struct CommandedClient {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl CommandedClient {
    pub(crate) fn start(server: &DemoServer) -> Self {
        Self::start_by(Command::new("python3"), server, &[])
    }

    /// Starts a client with this process name.
    pub(crate) fn named(name: &str, server: &DemoServer) -> Self {
        Self::start_by(Command::new("python3"), server, &[name])
    }

    /// Starts a client with a command that executes Python.
    pub(crate) fn start_by(mut command: Command, server: &DemoServer, name: &[&str]) -> Self {
        command.args(["-c", SCRIPT, &server.address().to_string(), server.ca_pem(), server.token()]).args(name);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut client = Self { child, stdin, stdout: BufReader::new(stdout) };
        assert_eq!(client.line(), "ready\n");
        client
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The mapped file whose name starts with `name`, from `/proc/PID/maps`.
    pub(crate) fn mapped(&self, name: &str) -> String {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.id())).unwrap();
        let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
        files.find(|file| file.rsplit('/').next().unwrap().starts_with(name)).unwrap().to_owned()
    }

    /// Sends requests and returns when all are answered.
    pub(crate) fn ask(&mut self, times: u32) {
        writeln!(self.stdin, "{times}").unwrap();
        assert_eq!(self.line(), "asked\n");
    }

    /// Ends the client, which must exit with success.
    pub(crate) fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }
}
