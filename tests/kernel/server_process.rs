//! A server with OpenSSL that runs as a separate process.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use super::clients::python;

/// Answers each request with an empty object.
const SERVER: &str = "
import http.server, ssl, sys
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'{}')
    def log_message(self, *_): pass
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answers)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
";

/// A server that runs as a separate process.
pub(crate) struct ServerProcess {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) authority: String,
}

impl ServerProcess {
    pub(crate) fn start() -> Self {
        let identity = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let authority = identity.cert.pem();
        let folder = tempfile::tempdir().unwrap();
        let files = [("certificate", &authority), ("key", &identity.signing_key.serialize_pem())].map(|(name, text)| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            file.to_str().unwrap().to_owned()
        });
        let mut child = python(SERVER, &files).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let address = format!("127.0.0.1:{}", port.trim()).parse().unwrap();
        Self { child, address, authority }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Both calls fail only if it has already exited.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}
