//! Clients of five libraries, each in a pod with a sidecar and in a pod without: the same calls, the same objects, the same tokens.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use observer_tests::node::Node;
use observer_tests::pod_client::{Calls, PodClient};

use super::follower::{Follower, calls, wait_for_stores};
use super::stage::{Stage, inject};

/// Whether a client relists while the API server starts depends on chance, too. So a difference counts if each restart has it.
const ATTEMPTS: usize = 3;
/// The libraries read their token again after 50 to 60 s, and the kubelet looks at its volumes once a minute or more often.
const ROTATED_WITHIN: Duration = Duration::from_mins(3);

/// How a pod differs from the one that it is compared with.
const WAYS: [&str; 2] = ["direct", "sidecar"];

#[test]
fn clients_with_a_sidecar_do_the_same_as_without_also_after_restarts() {
    let node = Node::alone().unwrap();
    let stage = Stage::prepare(&node, "clients");
    let clients: Vec<PodClient> = PodClient::ALL.into_iter().filter(|client| stage.load(*client).is_some()).collect();
    assert!(clients.contains(&PodClient::KubeRs), "kube-rs needs nothing that is not here");
    let mut followers = started(&stage, &clients);
    for follower in &mut followers {
        follower.until("synced");
        follower.until("got");
    }
    wait_for_stores(&stage, &mut followers);
    let first = calls(&stage, &followers);
    for [direct, beside] in pairs(&first) {
        assert!(direct.kinds().eq(beside.kinds()), "without a sidecar:\n{direct}\nwith one:\n{beside}");
    }

    node.restart_kubelet().unwrap();
    wait_for_new_tokens(&stage, &mut followers);

    let mut differing = clients.clone();
    for _ in 0..ATTEMPTS {
        let before = calls(&stage, &followers);
        node.restart_api_server().unwrap();
        wait_for_stores(&stage, &mut followers);
        let further = further(&before, &calls(&stage, &followers));
        let differs =
            clients.iter().zip(further).filter(|(_, further)| further.has_more_lists_with_sidecar()).map(|(client, _)| *client);
        let differs: Vec<PodClient> = differs.collect();
        differing.retain(|client| differs.contains(client));
        if differing.is_empty() {
            break;
        }
    }
    assert!(
        differing.is_empty(),
        "{differing:?} list more often with a sidecar after each of {ATTEMPTS} restarts of the API server"
    );

    let before = calls(&stage, &followers);
    for follower in followers.iter().filter(|follower| follower.name().ends_with(WAYS[1])) {
        stage.kill(follower.pod(), "initContainerStatuses");
    }
    wait_for_stores(&stage, &mut followers);
    let after = calls(&stage, &followers);
    check_resumes(&clients, &further(&before, &after));

    let before = after;
    for follower in &mut followers {
        stage.kill(follower.pod(), "containerStatuses");
    }
    wait_for_stores(&stage, &mut followers);
    for (client, further) in clients.iter().zip(further(&before, &calls(&stage, &followers))) {
        let [without, with] = further.lists;
        assert!(
            !further.has_more_lists_with_sidecar(),
            "{client} lists {without} times without a sidecar, and {with} times with one"
        );
    }
}

/// A client of each library, without and with a sidecar.
fn started<'s>(stage: &'s Stage<'_>, clients: &[PodClient]) -> Vec<Follower<'s>> {
    let mut pods = Vec::new();
    for &client in clients {
        let [direct, beside] = WAYS.map(|way| format!("{client}-{way}"));
        stage.namespace.apply(&Stage::pod(client, &direct)).unwrap();
        stage.namespace.apply(&inject(&Stage::pod(client, &beside))).unwrap();
        pods.extend([direct, beside]);
    }
    pods.iter().map(|pod| Follower::start(stage, pod, "app", pod)).collect()
}

/// Waits until each client has called with another token than its first one. Objects change meanwhile: the JavaScript client reopens
/// an idle watch after 30 s.
#[track_caller]
fn wait_for_new_tokens(stage: &Stage<'_>, followers: &mut [Follower<'_>]) {
    let began = Instant::now();
    loop {
        let calls = stage.node.calls(&stage.namespace.user("informer")).unwrap();
        let tokens = |name: &str| {
            let of_client = calls.iter().filter(|call| call.user_agent == name && call.status == Some(200));
            of_client.filter_map(|call| call.credential.as_deref()).collect::<BTreeSet<_>>().len()
        };
        let late: Vec<_> = followers.iter().map(Follower::name).filter(|name| tokens(name) < 2).collect();
        if late.is_empty() {
            return;
        }
        assert!(began.elapsed() < ROTATED_WITHIN, "{late:?} have their first token after {ROTATED_WITHIN:?}");
        stage.change("cm-0");
        // One line a second.
        (0..4).for_each(|_| followers[0].read());
    }
}

fn pairs(calls: &[Calls]) -> impl Iterator<Item = [&Calls; 2]> {
    calls.chunks(2).map(|pair| [&pair[0], &pair[1]])
}

/// The further lists and watches of a client, without and with a sidecar.
struct Further {
    lists: [usize; 2],
    watches: [usize; 2],
}

/// The further calls of each client in [`WAYS`], in the order of the clients.
fn further(before: &[Calls], after: &[Calls]) -> Vec<Further> {
    let of_pair = |(before, after): ([&Calls; 2], [&Calls; 2])| {
        let of_verb = |verb| [0, 1].map(|way| after[way].count(verb) - before[way].count(verb));
        Further { lists: of_verb("list"), watches: of_verb("watch") }
    };
    pairs(before).zip(pairs(after)).map(of_pair).collect()
}

impl Further {
    fn has_more_lists_with_sidecar(&self) -> bool {
        let [without, with] = self.lists;
        with > without
    }
}

/// After a restart of the sidecar, each watch resumes once. The Python program and the Java library list after each connection that is
/// refused, also one to the API server; the other libraries resume from the revision that they have.
#[track_caller]
fn check_resumes(clients: &[PodClient], further: &[Further]) {
    for (client, further) in clients.iter().zip(further) {
        let [[lists_without, lists], [watches_without, watches]] = [further.lists, further.watches];
        let most = usize::from(matches!(client, PodClient::Python | PodClient::Java));
        assert!(
            lists <= lists_without + most && watches <= watches_without + 1,
            "{client} lists {lists} times, and watches {watches} times"
        );
    }
}
