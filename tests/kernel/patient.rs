//! A client that does nothing until it is told to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use watchtap::demo::DemoServer;

/// Takes a name if it is given one, and another root if its environment tells one. Asks on one connection, as often as each line of its input says, and answers when that is done.
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

/// A Python client that runs, and has asked nothing yet.
pub(crate) struct Patient {
    child: Child,
    stdin: ChildStdin,
    said: BufReader<ChildStdout>,
}

impl Patient {
    pub(crate) fn start(server: &DemoServer) -> Self {
        Self::start_by(Command::new("python3"), server, &[])
    }

    /// One that is called so.
    pub(crate) fn named(name: &str, server: &DemoServer) -> Self {
        Self::start_by(Command::new("python3"), server, &[name])
    }

    /// By a command that becomes Python.
    pub(crate) fn start_by(mut command: Command, server: &DemoServer, name: &[&str]) -> Self {
        command.args(["-c", SCRIPT, &server.address().to_string(), server.ca_pem(), server.token()]).args(name);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut client = Self { child, stdin, said: BufReader::new(stdout) };
        assert_eq!(client.line(), "ready\n");
        client
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The file whose name begins so, as its table of mappings has it.
    pub(crate) fn mapped(&self, name: &str) -> String {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.id())).unwrap();
        let mut files = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
        files.find(|file| file.rsplit('/').next().unwrap().starts_with(name)).unwrap().to_owned()
    }

    /// Returns when all is answered.
    pub(crate) fn ask(&mut self, times: u32) {
        writeln!(self.stdin, "{times}").unwrap();
        assert_eq!(self.line(), "asked\n");
    }

    /// Returns when it has ended well.
    pub(crate) fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line
    }
}
