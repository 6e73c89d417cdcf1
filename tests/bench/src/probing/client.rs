//! The clients that are probed, in Python and in Go.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use watchtap::tap::probe::binary::{OpenSslProbePoints, TlsLibrary, probe_points, read_program};

const REQUEST: &str = "GET /api/v1/namespaces/shop/configmaps/settings HTTP/1.1\\r\\nHost: bench\\r\\n\\r\\n";

/// Exchanges this many requests and answers, at `rate` per second unless it is 0.
const PYTHON: &str = r#"
import json, resource, socket, ssl, sys, time
address, authority, exchanges, rate = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
name, port = address.rsplit(':', 1)
context = ssl.create_default_context(cafile=authority)
client = context.wrap_socket(socket.create_connection((name, int(port))), server_hostname=name)
request = b"REQUEST"
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
for _ in range(100):
    client.send(request)
    client.recv(65536)
cpu, began = used(), time.monotonic()
for number in range(exchanges):
    if rate and number % 20 == 0:
        time.sleep(max(0, began + number / rate - time.monotonic()))
    client.send(request)
    client.recv(65536)
print(json.dumps({'seconds': time.monotonic() - began, 'cpu_seconds': used() - cpu}))
"#;

/// The same program in Go.
const GO: &str = r#"package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

func used() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func main() {
	pem, _ := os.ReadFile(os.Args[2])
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	exchanges, _ := strconv.Atoi(os.Args[3])
	rate, _ := strconv.Atoi(os.Args[4])
	connection, err := tls.Dial("tcp", os.Args[1], &tls.Config{RootCAs: pool})
	if err != nil {
		panic(err)
	}
	// Never closed: a program that closes no connection has no function to close one.
	request, answer := []byte("REQUEST"), make([]byte, 65536)
	exchange := func() {
		if _, err := connection.Write(request); err != nil {
			panic(err)
		}
		if _, err := connection.Read(answer); err != nil {
			panic(err)
		}
	}
	for i := 0; i < 100; i++ {
		exchange()
	}
	cpu, began := used(), time.Now()
	for i := 0; i < exchanges; i++ {
		if rate > 0 && i%20 == 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		}
		exchange()
	}
	fmt.Printf("{\"seconds\": %f, \"cpu_seconds\": %f}\n", time.Since(began).Seconds(), used()-cpu)
}
"#;

/// A client program that runs on this machine.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// Its TLS library.
    pub(super) name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// The probed file, and the offsets in it that an exchange passes.
    file: PathBuf,
    places: Vec<u64>,
}

/// The CPU time and duration that a client reports.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Spent {
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
}

impl Client {
    /// The clients available on this machine; Go's is built into `folder`.
    pub(super) fn all(folder: &Path) -> Result<Vec<Self>> {
        let mut clients = vec![Self::python().context("the client in Python")?];
        if is_on_path("go") {
            clients.push(Self::go(folder).context("the client in Go")?);
        }
        Ok(clients)
    }

    fn python() -> Result<Self> {
        let told = Command::new("python3")
            .args(["-c", "import sys, _ssl; print(sys.executable); print(open('/proc/self/maps').read())"])
            .output()?;
        let told = String::from_utf8(told.stdout)?;
        let program = told.lines().next().context("python3 does not say where it is")?;
        let library = told.lines().filter_map(|line| line.find('/').map(|at| &line[at..])).find(|path| path.contains("libssl"));
        let file = PathBuf::from(library.context("its OpenSSL is no shared library")?);
        let arguments = vec!["-c".to_owned(), PYTHON.replace("REQUEST", REQUEST)];
        Ok(Self { name: "OpenSSL", program: PathBuf::from(program), arguments, places: places(&file)?, file })
    }

    fn go(folder: &Path) -> Result<Self> {
        let (source, program) = (folder.join("client.go"), folder.join("client"));
        fs::write(&source, GO.replace("REQUEST", REQUEST))?;
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&program).arg(&source);
        ensure!(build.env("GO111MODULE", "off").status()?.success(), "go build failed");
        Ok(Self { name: "Go", arguments: Vec::new(), places: places(&program)?, file: program.clone(), program })
    }

    /// Runs this many exchanges with the server.
    pub(super) fn run(&self, port: u16, authority: &Path, exchanges: u64, rate: u64) -> Result<Spent> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(format!("127.0.0.1:{port}")).arg(authority);
        let output = command.args([exchanges.to_string(), rate.to_string()]).stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "the client in {} failed", self.name);
        serde_json::from_slice(&output.stdout).context("the client says nothing of itself")
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn places(&self) -> &[u64] {
        &self.places
    }
}

/// The offsets of `SSL_write` and `SSL_read`, or of Go's `Write` and `Read`, which watchtap also probes.
fn places(file: &Path) -> Result<Vec<u64>> {
    let libraries = probe_points(&read_program(file)?)?;
    let mut places = Vec::new();
    for library in &libraries {
        match library {
            TlsLibrary::GoCryptoTls(points) => {
                places.extend([points.write, points.read]);
                places.extend(&points.read_returns);
            }
            TlsLibrary::OpenSsl(OpenSslProbePoints { write, read, write_ex, read_ex, .. }) => {
                for call in [write, read, write_ex, read_ex].into_iter().flatten() {
                    places.push(call.entry);
                    places.extend(&call.returns);
                }
            }
            TlsLibrary::Unprobed(_) => {}
        }
    }
    let mut places: Vec<u64> = places.into_iter().map(|point| point.offset).collect();
    places.sort_unstable();
    places.dedup();
    ensure!(!places.is_empty(), "{} has no place to probe", file.display());
    Ok(places)
}

fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}
