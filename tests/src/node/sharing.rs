//! One node for all tests of a process: those that need it undisturbed, and those that disturb it.

use std::ops::Deref;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use anyhow::{Result, anyhow};

use super::running::Node;

/// The node while no test stops a part of it.
pub type Shared = RwLockReadGuard<'static, Node>;

/// The node while no other test uses it.
#[derive(Debug)]
pub struct Alone(RwLockWriteGuard<'static, Node>);

impl Node {
    /// The node of this test process, which the first call starts. A test calls this once.
    pub fn shared() -> Result<Shared> {
        Ok(of_process()?.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same node, as soon as no other test uses it.
    pub fn alone() -> Result<Alone> {
        Ok(Alone(of_process()?.write().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn of_process() -> Result<&'static RwLock<Node>> {
    static NODE: OnceLock<Result<RwLock<Node>, String>> = OnceLock::new();
    let node = NODE.get_or_init(|| Node::start().map(RwLock::new).map_err(|error| format!("{error:#}")));
    node.as_ref().map_err(|error| anyhow!("{error}"))
}

impl Alone {
    /// Kills the API server.
    pub fn stop_api_server(&self) -> Result<()> {
        self.0.stop_api_server()
    }

    /// Starts the API server after [`Alone::stop_api_server`], and waits until it is ready.
    pub fn start_api_server(&self) -> Result<()> {
        self.0.start_api_server()
    }

    /// Kills the API server, starts it again, and waits until it is ready.
    pub fn restart_api_server(&self) -> Result<()> {
        self.stop_api_server()?;
        self.start_api_server()
    }

    /// Kills the kubelet, and starts it again. Pods keep running, and all of them get new tokens: the kubelet's store of tokens is in
    /// its memory (kubernetes/kubernetes `pkg/kubelet/token/token_manager.go`, 1.34). [`super::Namespace::token`] shows a pod's token.
    ///
    /// Without a restart, a token is renewed after 80 % of its lifetime, which is 10 minutes or more.
    pub fn restart_kubelet(&self) -> Result<()> {
        self.0.restart_kubelet()
    }
}

impl Deref for Alone {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.0
    }
}
