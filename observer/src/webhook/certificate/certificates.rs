//! The certificates of a running webhook: what its server and its probes ask for.

use std::sync::Arc;
use std::time::SystemTime;

use observer_pki::AuthorityError;
use rustls::ServerConfig;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::failure::Names;
use super::folder::Folder;
use super::keeper::Keeper;
use super::report::{Report, State};
use super::served::Served;
use super::{Config, Pace, Source};

/// The webhook's certificates. They are renewed in the background until this value is dropped.
#[derive(Debug)]
pub struct Certificates {
    server_config: Arc<ServerConfig>,
    state: watch::Receiver<State>,
    work: JoinHandle<()>,
}

impl Certificates {
    /// Begins to get a certificate, and returns at once. Needs a tokio runtime. Problems are printed when they begin and end.
    pub fn start(config: Config) -> Result<Self, AuthorityError> {
        Self::start_at_pace(config, Pace::USUAL)
    }

    /// The same with other times, for tests.
    pub fn start_at_pace(config: Config, pace: Pace) -> Result<Self, AuthorityError> {
        let Config { service, source } = config;
        let served = Arc::new(Served::default());
        let server_config = served.server_config()?;
        let (report, state) = Report::new();
        let work = match source {
            Source::OwnAuthority { configuration, api_server } => {
                let names = Names { service, configuration };
                let keeper = Keeper::new(api_server, names, pace, served, report.clone());
                tokio::spawn(supervise(keeper.keep(), report))
            }
            Source::Folder(path) => {
                let folder = Folder::new(&path, &service, pace, served, report.clone());
                tokio::spawn(supervise(folder.follow(), report))
            }
        };
        Ok(Self { server_config, state, work })
    }

    /// The configuration for the server's TLS: HTTP/1.1, and always the current certificate. It stays the same for as long as
    /// the webhook runs. Handshakes fail while there is no certificate.
    pub fn server_config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.server_config)
    }

    /// Whether the API server accepts the certificate: there is one, and as last seen, `caBundle` has its authority. With files,
    /// `caBundle` is not looked at, but the certificate has to be for the Service, and not long expired.
    pub fn is_ready(&self) -> bool {
        self.state.borrow().is_ready
    }

    /// Waits until the answer of any other method here has changed since the last call. Cancel-safe.
    pub async fn changed(&mut self) {
        if self.state.changed().await.is_err() {
            // The work never ends by itself. After a panic, which was published, nothing changes any more.
            std::future::pending::<()>().await;
        }
    }

    /// The end of the current certificate; `None` while there is none.
    pub fn expires(&self) -> Option<SystemTime> {
        self.state.borrow().expires
    }

    /// The current problem with its remedy, on one line, without secrets. The text of the API server may be in it, so it has to pass
    /// the gate. A problem does not mean that requests fail.
    pub fn problem(&self) -> Option<String> {
        self.state.borrow().problem.clone()
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// Does `work`, which never ends by itself. If it panics, the certificate is renewed no more, and that is published.
async fn supervise(work: impl Future<Output = ()> + Send + 'static, report: Report) {
    // Unlike a task of its own, a set ends its tasks when it is dropped.
    let mut tasks = JoinSet::new();
    tasks.spawn(work);
    if let Some(Err(error)) = tasks.join_next().await
        && error.is_panic()
    {
        report.publish_end();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn panic_of_the_work_is_published() {
        let (report, mut state) = Report::new();
        let expires = Some(SystemTime::now());
        report.publish(State { is_ready: true, expires, problem: None });
        let work = async { assert!(std::hint::black_box(false), "on purpose") };
        let supervised = tokio::spawn(supervise(work, report));
        let ended =
            timeout(Duration::from_mins(1), state.wait_for(|state| state.problem.is_some())).await.unwrap().unwrap().clone();
        assert!(!ended.is_ready && ended.problem.unwrap().contains("restart the pod"));
        assert_eq!(ended.expires, expires);
        supervised.await.unwrap();
    }

    #[tokio::test]
    async fn work_ends_with_its_supervisor() {
        let (report, state) = Report::new();
        let (alive, dropped) = tokio::sync::oneshot::channel::<()>();
        let work = async move {
            let _alive = alive;
            std::future::pending::<()>().await;
        };
        let supervised = tokio::spawn(supervise(work, report));
        tokio::task::yield_now().await;
        supervised.abort();
        timeout(Duration::from_mins(1), dropped).await.unwrap().unwrap_err();
        assert_eq!(*state.borrow(), State::default());
    }
}
