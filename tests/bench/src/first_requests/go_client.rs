//! A client in Go that asks soon after its start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, ensure};
use observer_demo::DemoServer;

/// Number of requests of each program. A probe that examines a program for a tenth of a second sees the last ones.
pub(super) const REQUESTS: u32 = 100;

/// Its requests are for the namespaces `NAME-0`, `NAME-1` and so on. It waits until so many microseconds after a time since 1970.
const SOURCE: &str = r#"package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	host, authority, token, name := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	started, _ := strconv.ParseInt(os.Args[5], 10, 64)
	wait, _ := strconv.Atoi(os.Args[6])
	requests, _ := strconv.Atoi(os.Args[7])
	time.Sleep(time.Until(time.UnixMicro(started).Add(time.Duration(wait) * time.Millisecond)))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	for number := 0; number < requests; number++ {
		url := fmt.Sprintf("https://%s/api/v1/namespaces/%s-%d/configmaps", host, name, number)
		request, _ := http.NewRequest(http.MethodGet, url, nil)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(request)
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
"#;

/// Builds the client in `folder`.
pub(super) fn build(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("first.go"), folder.join("first"));
    fs::write(&source, SOURCE)?;
    let mut build = Command::new("go");
    build.args(["build", "-ldflags", "-s -w", "-o"]).arg(&program).arg(&source).stdout(Stdio::null());
    ensure!(build.envs([("GO111MODULE", "off"), ("CGO_ENABLED", "0")]).status()?.success(), "go build failed");
    Ok(program)
}

/// Runs a copy of the client, which asks `wait` milliseconds after its start.
pub(super) fn ask(program: &Path, server: &DemoServer, name: &str, wait: u32) -> Result<()> {
    let mut client = Command::new(program);
    client.args([server.address().to_string().as_str(), server.ca_pem(), server.token(), name]);
    let started = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
    let status = client.args([started.to_string(), wait.to_string(), REQUESTS.to_string()]).stdin(Stdio::null()).status()?;
    ensure!(status.success(), "the client failed: {status}");
    Ok(())
}
