//! kubectl and its contexts through `watchtap exec`.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use observer_tests::{Cluster, kubectl, output_within, watchtap};
use serde_json::Value;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(1);
const WHOAMI: &str = r#"auth whoami -o 'jsonpath={.status.userInfo.username}{"\n"}'"#;

#[test]
fn each_kubectl_context_acts_as_its_own_user() {
    let place = Fixture::new();
    let who = |context: &str| format!("$K --context {context} {WHOAMI};");
    let script: String = ["admin", "visitor", "certificate", "renamed"].map(who).concat();
    let direct = place.directly(&script);
    assert_eq!(direct, place.exec(&script));
    let users: Vec<&str> = direct.lines().collect();
    assert_eq!(
        (users.len(), users[0] == users[1], users[0] == users[2], users[0] == users[3]),
        (4, false, false, true),
        "{users:?}"
    );
    let report = place.report();
    let asked: Vec<&Value> = report["requests"].as_array().unwrap().iter().filter(|one| one["verb"] == "create").collect();
    assert_eq!(asked.len(), 4, "each went through us");
}

#[test]
fn kubectl_reuses_its_discovery_cache_in_the_next_run() {
    // kubectl's discovery cache depends on the listener's port, and the port depends on the server and the user. Other tests on
    // this cluster have listeners for their users at the same time, so this test needs a separate user name.
    let place = Fixture::with_admin_name("discovering");
    let discovered = || {
        place.exec("$K get configmaps -n default");
        let report = place.report();
        report["requests"].as_array().unwrap().iter().filter(|request| request["resource"] == "/apis").count()
    };
    assert_eq!((discovered(), discovered()), (1, 0));
}

#[test]
fn kubectl_rereads_a_token_file_on_each_run() {
    let place = Fixture::new();
    place.write("token", Cluster::shared().unwrap().admin_token());
    place.write("other-token", Cluster::shared().unwrap().visitor_token());
    let folder = place.folder.path().display();
    let script = format!("$K --context rotating {WHOAMI}; cp {folder}/other-token {folder}/token; $K --context rotating {WHOAMI}");
    let shown = place.exec(&script);
    let expected = place.directly(&format!("$K --context admin {WHOAMI}; $K --context visitor {WHOAMI}"));
    assert_eq!(shown, expected);
}

/// `set-credentials` uses the same function as an auth-provider that refreshes a token: `ModifyConfig`.
#[test]
fn auth_provider_change_by_kubectl_reaches_the_users_file() {
    let place = Fixture::new();
    let theirs = place.write("theirs", "apiVersion: v1\nkind: Config\nusers:\n- name: oidc\n  user:\n    auth-provider:\n      name: oidc\n      config: {refresh-token: old}\n");
    let script = "$K config set-credentials oidc --auth-provider-arg=refresh-token=new >/dev/null; $K config current-context";
    assert_eq!(place.exec_with(&[place.kubeconfig.clone(), theirs.clone()], script), "admin\n");
    let text = fs::read_to_string(theirs).unwrap();
    assert!(text.contains("refresh-token: new"), "{text}");
}

/// A home folder with a kubeconfig of one cluster and several users.
struct Fixture {
    folder: TempDir,
    kubeconfig: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        Self::with_admin_name("admin")
    }

    /// `user` is the kubeconfig's name for the user of the current context.
    fn with_admin_name(user: &str) -> Self {
        let cluster = Cluster::shared().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, cluster.kubeconfig_with_contexts(user)).unwrap();
        Self { folder, kubeconfig }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    #[track_caller]
    fn directly(&self, script: &str) -> String {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).env("KUBECONFIG", &self.kubeconfig);
        self.run(command)
    }

    #[track_caller]
    fn exec(&self, script: &str) -> String {
        self.exec_with(std::slice::from_ref(&self.kubeconfig), script)
    }

    #[track_caller]
    fn exec_with(&self, files: &[PathBuf], script: &str) -> String {
        let mut command = watchtap().unwrap();
        command.args(["exec", "--format", "json", "--report"]).arg(self.folder.path().join("report.json"));
        command.args(["--", "sh", "-c", script]).env("KUBECONFIG", std::env::join_paths(files).unwrap());
        self.run(command)
    }

    #[track_caller]
    fn run(&self, mut command: std::process::Command) -> String {
        command.env("K", kubectl().expect("kubectl is on the PATH")).env("HOME", self.folder.path()).stdin(Stdio::null());
        let output: Output = output_within(&mut command, LIMIT).unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn report(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.folder.path().join("report.json")).unwrap()).unwrap()
    }
}
