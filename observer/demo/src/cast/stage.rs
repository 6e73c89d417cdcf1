//! The stage: the running clients, each with a connection of its own, and how they start and end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use tokio::task::JoinSet;

use super::kube_clients::{self, api_resource};
use super::rollout::finish_rollouts;
use super::{changes, slow_reader};
use crate::client_go::{Door, Process, Reflector, Windows};
use crate::clock::Clock;
use crate::script::{Actor, Role};

/// Running clients; they end when this is dropped.
pub(crate) struct Stage {
    kubeconfig: PathBuf,
    door: Arc<Door>,
    clock: Clock,
    /// The tasks of each client, by its name.
    running: BTreeMap<String, JoinSet<()>>,
}

impl Stage {
    /// A stage without clients. Clients connect to the API server of `kubeconfig`.
    pub(crate) fn new(kubeconfig: PathBuf, clock: Clock) -> Result<Self> {
        let door = Arc::new(Door::of_kubeconfig(&kubeconfig)?);
        Ok(Self { kubeconfig, door, clock, running: BTreeMap::new() })
    }

    /// Starts a client, after ending one of the same name.
    pub(crate) async fn start(&mut self, actor: &Actor) -> Result<()> {
        self.stop(&actor.name);
        let tasks = self.tasks(actor).await?;
        self.running.insert(actor.name.clone(), tasks);
        Ok(())
    }

    /// Ends a client at once, like a killed process.
    pub(crate) fn stop(&mut self, name: &str) {
        self.running.remove(name);
    }

    async fn tasks(&self, actor: &Actor) -> Result<JoinSet<()>> {
        let mut tasks = JoinSet::new();
        let second = self.clock.lasts(Duration::from_secs(1));
        match &actor.role {
            Role::Reflectors { client_go, resources } => {
                // client-go's default `User-Agent` has this form in programs that are not part of a Kubernetes release.
                let user_agent = format!("{} (linux/amd64) kubernetes/$Format", actor.name);
                let process = Arc::new(Process::new(Arc::clone(&self.door), &user_agent, Windows::AsGo)?);
                for resource in resources {
                    tasks.spawn(Reflector::new(Arc::clone(&process), *client_go, self.clock, resource).run());
                }
            }
            Role::Watcher { resource } => {
                tasks.spawn(kube_clients::watch(self.client(actor).await?, api_resource(resource), second / 5));
            }
            Role::Controller { resource } => {
                tasks.spawn(kube_clients::reconcile(self.client(actor).await?, api_resource(resource)));
            }
            Role::Rollouts => {
                tasks.spawn(finish_rollouts(self.client(actor).await?));
            }
            Role::Poller { resource, every, from_cache } => {
                let parameters = if *from_cache { ListParams::default().match_any() } else { ListParams::default() };
                let every = self.clock.lasts(*every);
                tasks.spawn(kube_clients::poll(self.client(actor).await?, api_resource(resource), every, parameters));
            }
            Role::Pager { resource, every, page } => {
                let every = self.clock.lasts(*every);
                tasks.spawn(kube_clients::page(self.client(actor).await?, api_resource(resource), every, *page));
            }
            Role::Changer { every } => {
                tasks.spawn(changes::change(self.client(actor).await?, self.clock.lasts(*every)));
            }
            Role::Writer { every, kib } => {
                tasks.spawn(changes::write(self.client(actor).await?, self.clock.lasts(*every), *kib));
            }
            Role::SlowReader { resource } => {
                let process = Process::new(Arc::clone(&self.door), &actor.name, Windows::Smallest)?;
                tasks.spawn(slow_reader::hold(process, resource, second));
            }
        }
        Ok(tasks)
    }

    async fn client(&self, actor: &Actor) -> Result<Client> {
        kube_clients::client(&self.kubeconfig, &actor.name).await
    }
}
