//! Clients of five libraries, each directly and through watchtap: they find `ca.crt` and token in the sidecar's layout, follow a token
//! that is replaced, and make the same calls.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use observer_tests::RunSession;
use observer_tests::pod_client::{Calls, Pod, PodClient, PodRoot, PodSpec, ProjectedVolume};
use serde_json::Value;
use watchtap::pod_layout::{MOVED_SERVICE_ACCOUNT, SERVICE_ACCOUNT};

use super::ground::{Ground, NAMESPACE, Token};
use super::trust::trust;

/// The libraries read their token again after 50 to 60 s.
const ROTATED_WITHIN: Duration = Duration::from_secs(90);
/// The config map that the clients get each second.
const GOT: &str = "cm-1";

/// A client in a container.
struct Follower {
    client: PodClient,
    /// `direct` or `watchtap`.
    way: &'static str,
    pod: Pod,
}

/// `ca.crt` has two certificates. Through watchtap, clients need the first one; directly, they need the second one.
#[test]
fn clients_in_pods_follow_a_rotated_token_and_make_the_same_calls_as_without_watchtap() {
    let ground = Ground::prepare();
    let session = RunSession::start(&ground.cluster.kubeconfig_token().unwrap(), &["--quiet"]).unwrap();
    let listening = session.listening().unwrap();
    let trust = trust(&[&listening.authority, ground.cluster.ca_pem()]);
    let [first, second] = [ground.token(), ground.token()];
    let mut volume = ProjectedVolume::create(&files(&first, &ground)).unwrap();
    let mounts = [(SERVICE_ACCOUNT, trust.path()), (MOVED_SERVICE_ACCOUNT, volume.path())];

    let mut followers = Vec::new();
    for client in PodClient::ALL {
        let Some(root) = client.root().unwrap() else { continue };
        println!("{client}: {} MB", root.size().unwrap() / 1_000_000);
        for (way, port) in [("direct", ground.cluster.port()), ("watchtap", listening.address.port())] {
            followers.push(Follower::start(client, way, &root, port, &mounts));
        }
    }
    assert!(followers.iter().any(|follower| follower.client == PodClient::KubeRs), "kube-rs needs nothing that is not here");
    for follower in &mut followers {
        follower.lines_when(|lines| has(lines, "synced") && has(lines, "got"));
    }

    volume.update(&files(&second, &ground)).unwrap();
    ground.wait_for_credential(&second, &mut followers);

    let marker = ground.change(PodClient::PRINT_STORE);
    let expected = ground.objects();
    for follower in &mut followers {
        assert_eq!(follower.store_at(&marker), expected, "{}", follower.user_agent());
        let lines = follower.pod.lines().unwrap();
        let failed: Vec<_> = lines.iter().filter(|line| line["event"] == "failed").collect();
        assert!(failed.is_empty(), "{}: {failed:?}", follower.user_agent());
    }
    let libraries = followers.iter().step_by(2).map(|follower| (follower.client, follower.library())).collect::<Vec<_>>();
    drop(followers);
    session.finish().unwrap();
    compare_calls(&ground.cluster.audit_log().unwrap(), &libraries);
}

impl Follower {
    fn start(client: PodClient, way: &'static str, root: &PodRoot, port: u16, mounts: &[(&str, &Path)]) -> Self {
        let port = port.to_string();
        let environment = [
            ("KUBERNETES_SERVICE_HOST", "127.0.0.1"),
            ("KUBERNETES_SERVICE_PORT", &port),
            ("KUBERNETES_SERVICE_PORT_HTTPS", &port),
        ];
        let user_agent = user_agent(client, way);
        let spec = PodSpec { root, arguments: &[&user_agent, GOT], environment: &environment, mounts };
        Self { client, way, pod: Pod::start(&spec).unwrap() }
    }

    fn user_agent(&self) -> String {
        user_agent(self.client, self.way)
    }

    #[track_caller]
    fn lines_when(&mut self, enough: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        self.pod.lines_when(enough).unwrap_or_else(|error| panic!("{}: {error:#}", self.user_agent()))
    }

    /// Its store once it has the marker with this resource version.
    #[track_caller]
    fn store_at(&mut self, marker: &str) -> BTreeMap<String, String> {
        let is_it = |line: &&Value| line["event"] == "store" && line["objects"][PodClient::PRINT_STORE] == marker;
        let lines = self.lines_when(|lines| lines.iter().any(|line| is_it(&line)));
        let store = lines.iter().find(is_it).unwrap()["objects"].as_object().unwrap();
        store.iter().map(|(name, version)| (name.clone(), version.as_str().unwrap().to_owned())).collect()
    }

    fn library(&self) -> String {
        let lines = self.pod.lines().unwrap();
        lines.iter().find_map(|line| line["library"].as_str()).unwrap().to_owned()
    }
}

impl Ground {
    /// Waits until a request of each follower has this token. Objects change meanwhile, so that no watch is idle: the JavaScript client
    /// reopens an idle watch after 30 s.
    #[track_caller]
    fn wait_for_credential(&self, token: &Token, followers: &mut [Follower]) {
        const GETS: usize = 4;
        let began = Instant::now();
        loop {
            let audit = self.cluster.audit_log().unwrap();
            let of_token = |event: &&Value| {
                event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0] == token.credential_id.as_str()
                    && event["responseStatus"]["code"] == 200
            };
            let have: Vec<_> = audit.iter().filter(of_token).filter_map(|event| event["userAgent"].as_str()).collect();
            let late: Vec<_> = followers.iter().map(Follower::user_agent).filter(|agent| !have.contains(&agent.as_str())).collect();
            if late.is_empty() {
                return;
            }
            assert!(began.elapsed() < ROTATED_WITHIN, "{late:?} have an old token after {ROTATED_WITHIN:?}");
            self.change("cm-0");
            let before = followers[0].pod.lines().unwrap().len();
            followers[0].lines_when(|lines| lines[before..].iter().filter(|line| line["event"] == "got").count() >= GETS);
        }
    }
}

/// Prints the calls of each client, and checks that they are the same with watchtap and without. The number of GETs depends on the time.
#[track_caller]
fn compare_calls(audit: &[Value], libraries: &[(PodClient, String)]) {
    for (client, library) in libraries {
        let [direct, watched] = ["direct", "watchtap"].map(|way| Calls::of(audit, &user_agent(*client, way)));
        println!("{library}, directly and through watchtap:\n{direct}\n{watched}");
        assert!(direct.kinds().eq(watched.kinds()), "{client}");
        for verb in ["list", "watch"] {
            assert_eq!(direct.count(verb), watched.count(verb), "{client}: {verb}");
        }
        assert_eq!(direct.count("watch"), 1, "{client}");
    }
}

fn files<'a>(token: &'a Token, ground: &'a Ground) -> [(&'static str, &'a str); 3] {
    [("token", &token.text), ("ca.crt", ground.cluster.ca_pem()), ("namespace", NAMESPACE)]
}

fn user_agent(client: PodClient, way: &str) -> String {
    format!("{client}-{way}")
}

fn has(lines: &[Value], event: &str) -> bool {
    lines.iter().any(|line| line["event"] == event)
}
