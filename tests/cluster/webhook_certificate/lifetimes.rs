//! Replicas that start at once, and a Secret that is deleted, damaged or about to expire.

use std::time::{Duration, SystemTime};

use observer_pki::PrivateAuthority;
use watchtap::webhook::certificate::Certificates;

use super::system::{System, await_state, certificate};
use crate::eventually::eventually;

const YEAR: Duration = Duration::from_hours(365 * 24);

#[tokio::test(flavor = "multi_thread")]
async fn replicas_that_start_at_once_agree_on_one_authority() {
    for namespace in ["webhook-race-1", "webhook-race-2", "webhook-race-3"] {
        let system = System::install(namespace);
        let mut replicas: Vec<_> = (0..5).map(|_| system.replica()).collect();
        for replica in &mut replicas {
            await_state(replica, Certificates::is_ready).await;
        }
        assert_eq!(system.bundle(), [certificate(&system.stored().unwrap())]);
        let secret = system.read(&system.secret_path()).unwrap();
        assert_eq!(secret["metadata"]["managedFields"].as_array().unwrap().len(), 1, "one of them stored it: {secret:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn deleted_secret_has_the_same_authority_again() {
    let system = System::install("webhook-deleted");
    let mut replicas = [system.replica(), system.replica()];
    for replica in &mut replicas {
        await_state(replica, Certificates::is_ready).await;
    }
    let stored = system.stored();
    for _ in 0..3 {
        system.send("DELETE", &system.secret_path(), &serde_json::Value::Null).success().unwrap();
        assert_eq!(eventually(|| system.stored()), stored);
        assert!(replicas.iter().all(Certificates::is_ready));
    }
    assert_eq!(system.bundle().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn unusable_authority_is_replaced_by_one_of_the_replicas() {
    let now = SystemTime::now();
    let expired = PrivateAuthority::generate_for(10 * YEAR, now - 11 * YEAR).unwrap().to_pem();
    for (namespace, content) in [("webhook-expired", expired.as_bytes()), ("webhook-damaged", b"damaged")] {
        let system = System::install(namespace);
        system.store(content);
        let mut replicas: Vec<_> = (0..3).map(|_| system.replica()).collect();
        for replica in &mut replicas {
            await_state(replica, Certificates::is_ready).await;
        }
        let stored = system.stored().unwrap();
        PrivateAuthority::from_pem(&stored, now, 9 * YEAR).unwrap();
        assert_eq!(system.bundle(), [certificate(&stored)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn authority_that_another_program_stores_replaces_the_former_one_step_by_step() {
    let system = System::install("webhook-replaced");
    let mut replicas = [system.replica(), system.replica()];
    for replica in &mut replicas {
        await_state(replica, Certificates::is_ready).await;
    }
    let former = certificate(&system.stored().unwrap());
    let other = PrivateAuthority::generate_for(10 * YEAR, SystemTime::now()).unwrap().to_pem();
    system.store(other.as_bytes());
    let other = certificate(other.as_bytes());
    eventually(|| (system.bundle() == [other.clone(), former.clone()]).then_some(())).expect("both are in the bundle");
    assert!(replicas.iter().all(Certificates::is_ready));
    eventually(|| (system.bundle() == [other.clone()]).then_some(())).expect("the former one leaves the bundle");
    assert!(replicas.iter().all(Certificates::is_ready));
}
