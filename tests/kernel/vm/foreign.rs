//! A machine of another architecture. The programs of this machine do not run there, so it has the program of the image, and clients of
//! Debian. The API server is on this machine. Its audit log has the requests that the clients sent.

use std::fs;
use std::path::PathBuf;

use observer_tests::{Cluster, GUEST_FILES, Guest, LOOPBACK_OUTSIDE, Options, Ran, Step, StepEnd, client_token, client_user};
use serde_json::{Deserializer, Value};
use tempfile::TempDir;

use super::proofs::LIMIT;
use super::results::Row;
use crate::clients::PATHS;
use crate::losses::losses;

/// The variable that names the program of the image for arm64; `xtask/src/test/command.rs` sets it.
const PROGRAM: &str = "WATCHTAP_TESTS_ARM64_PROGRAM";

/// The names of the clients in the table: those of [`super::streams`].
const CURL: &str = "curl, HTTP/1.1";
const KUBECTL: &str = "kubectl, HTTP/2";
/// The names of the commands that are no proofs.
const START_OF_PROBE: &str = "start of the probe";
const END_OF_PROBE: &str = "end of the probe";

/// Starts the probe, and waits until it is attached. Then kubectl runs once without a request: the probe misses the beginning of the first
/// process of a new program.
const START: &str = "
/run/vm/watchtap probe --server-version \"$0\" --quiet --metrics 127.0.0.1:9464 --events /tmp/events --format json --report /tmp/report \
    >/tmp/printed 2>&1 &
echo $! >/tmp/process
until /run/busybox wget -q -O /dev/null http://127.0.0.1:9464/ready 2>/dev/null; do
  if ! kill -0 $!; then
    cat /tmp/printed
    exit 1
  fi
  sleep 1
done
kubectl version --client
";
/// Ends the probe, and prints the report and all events. A job of a script in the background ignores SIGINT.
const END: &str = "
kill -TERM \"$(cat /tmp/process)\"
while kill -0 \"$(cat /tmp/process)\" 2>/dev/null; do sleep 1; done
cat /tmp/report /tmp/events
";

/// A client in the machine.
struct Client {
    /// The name of its proof.
    proof: &'static str,
    /// The name of its process.
    process: &'static str,
    /// The number of its user: each client has one of its own.
    user: usize,
    /// The paths and queries of its requests.
    requests: &'static [&'static str],
}

const CLIENTS: [Client; 2] = [
    Client { proof: CURL, process: "curl", user: 0, requests: &PATHS },
    Client {
        proof: KUBECTL,
        process: "kubectl",
        user: 1,
        requests: &["/api?timeout=32s", "/apis?timeout=32s", "/api/v1/namespaces/kube-system/configmaps?limit=500"],
    },
];

/// The API server, and files for the machine.
pub(super) struct Outside {
    cluster: Cluster,
    folder: TempDir,
}

impl Outside {
    pub(super) fn start() -> Self {
        Self { cluster: Cluster::start(&Options::default()).unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    /// The machine with the program, and with the files of the clients.
    pub(super) fn equip(&self, guest: Guest) -> Guest {
        let authority = self.folder.path().join("authority");
        fs::write(&authority, self.cluster.ca_pem()).unwrap();
        let [_, kubectl] = &CLIENTS;
        let kubeconfig = self.cluster.kubeconfig_of_client(kubectl.user, &self.server(), self.cluster.ca_pem()).unwrap();
        let guest = guest.file("watchtap", program()).file("authority", authority).file("kubeconfig", kubeconfig);
        guest.env("KUBECONFIG", &format!("{GUEST_FILES}/kubeconfig"))
    }

    /// The commands: those of the probe around those of the clients.
    pub(super) fn steps(&self) -> Vec<Step> {
        let shell = |script: &str| ["/run/busybox", "sh", "-c", script, self.cluster.version()].map(str::to_owned).to_vec();
        let kubectl = ["kubectl", "get", "configmaps", "--namespace", "kube-system"].map(str::to_owned).to_vec();
        let steps = [(START_OF_PROBE, shell(START)), (CURL, self.curl()), (KUBECTL, kubectl), (END_OF_PROBE, shell(END))];
        steps.map(|(name, command)| Step { name, command, limit: LIMIT }).to_vec()
    }

    /// Sends its requests on one connection, and prints the size of each body.
    fn curl(&self) -> Vec<String> {
        let [curl, _] = &CLIENTS;
        let authorization = format!("Authorization: Bearer {}", client_token(curl.user));
        let fixed = ["curl", "--silent", "--show-error", "--fail", "--http1.1", "--write-out", "%{size_download} "];
        let given = ["--cacert", &format!("{GUEST_FILES}/authority"), "--header", &authorization].map(str::to_owned);
        let of_request = |path: &&str| ["--output".to_owned(), "/dev/null".to_owned(), format!("{}{path}", self.server())];
        let of_requests = curl.requests.iter().flat_map(of_request);
        fixed.map(str::to_owned).into_iter().chain(given).chain(of_requests).collect()
    }

    fn server(&self) -> String {
        format!("https://{LOOPBACK_OUTSIDE}:{}", self.cluster.port())
    }

    /// The results of the clients, and of the commands that are no proofs.
    pub(super) fn rows(&self, ran: &Ran) -> Vec<Row> {
        let step = |name: &str| ran.steps.iter().find(|step| step.name == name).unwrap();
        let (begun, ended) = (step(START_OF_PROBE), step(END_OF_PROBE));
        let broken = [begun, ended].into_iter().filter(|step| step.code != 0);
        let broken: Vec<String> = broken.map(|step| format!("{} ended with {}: {}", step.name, step.code, step.output)).collect();
        let seen = Seen::read(&ended.output);
        let log = self.cluster.audit_log().unwrap();
        let row = |client: &Client| {
            let faults = [broken.clone(), seen.losses.clone(), client.faults(step(client.proof), &log, &seen)].concat();
            Row::of_client(client.proof, &faults)
        };
        CLIENTS.iter().map(row).collect()
    }
}

impl Client {
    /// The differences between the requests that it should have sent, those in the audit log, and those that the probe has seen.
    fn faults(&self, step: &StepEnd, log: &[Value], seen: &Seen) -> Vec<String> {
        let user = client_user(self.user);
        let is_sent = |event: &&Value| event["user"]["username"] == user.as_str() && event["stage"] == "ResponseComplete";
        let sent: Vec<&Value> = log.iter().filter(is_sent).collect();
        let asked: Vec<&str> = sent.iter().filter_map(|event| event["requestURI"].as_str()).collect();
        let sent: Vec<_> = sent.iter().map(|event| (&event["auditID"], &event["responseStatus"]["code"])).collect();
        let observed: Vec<&Value> = seen.requests_of(self.process).collect();
        let received: Vec<String> = observed.iter().map(|request| request["bytes"].to_string()).collect();
        let observed: Vec<_> = observed.iter().map(|request| (&request["audit_id"], &request["status"])).collect();
        let mut faults = Vec::new();
        if step.code != 0 || asked != self.requests {
            faults.push(format!("it ended with {}, and sent {asked:?}: {}", step.code, step.output));
        }
        if observed != sent {
            faults.push(format!("the API server has answered {sent:?}, and the probe has seen {observed:?}"));
        }
        if self.proof == CURL && received.join(" ") != step.output.trim() {
            faults.push(format!("it has received {} bytes, and the probe has seen {received:?}", step.output));
        }
        faults
    }
}

/// The report and the events of the probe.
struct Seen {
    losses: Vec<String>,
    events: Vec<Value>,
}

impl Seen {
    /// Reads a report, and the events after it.
    fn read(text: &str) -> Self {
        let mut documents = Deserializer::from_str(text).into_iter::<Value>().map_while(Result::ok);
        let losses = documents.next().map_or_else(|| vec![format!("no report: {text}")], |report| losses(&report));
        Self { losses, events: documents.collect() }
    }

    /// The requests on connections of processes with this name, in the order of their ends.
    fn requests_of(&self, process: &str) -> impl Iterator<Item = &Value> {
        let of_process = |event: &&Value| event["event"] == "connection-opened" && event["process"]["name"] == process;
        let connections: Vec<&Value> = self.events.iter().filter(of_process).map(|event| &event["connection"]).collect();
        self.events.iter().filter(move |event| event["event"] == "request" && connections.contains(&&event["connection"]))
    }
}

/// The program of the image for arm64.
fn program() -> PathBuf {
    let program = std::env::var_os(PROGRAM);
    PathBuf::from(program.unwrap_or_else(|| panic!("{PROGRAM} names no program: run `cargo xtask test --only vm --vm arm64-6.12`")))
}
