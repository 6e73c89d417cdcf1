//! Each client connection has its own upstream connection, for exactly its lifetime.

use tokio::io::AsyncWriteExt;

use super::rig::{End, Rig, eventually, read_to_end};

#[tokio::test]
async fn each_client_connection_has_its_own_upstream_connection() {
    const CLIENTS: usize = 20;
    let mut rig = Rig::start();
    let mut pairs = Vec::new();
    for connected in 1..=CLIENTS {
        pairs.push(rig.pair().await);
        assert_eq!(rig.upstream.seen().tcp_connections, connected);
    }
    for (ended, (mut client, mut upstream)) in pairs.into_iter().enumerate() {
        client.shutdown().await.unwrap();
        assert_eq!(read_to_end(&mut upstream).await, (Vec::new(), End::CloseNotify));
        upstream.shutdown().await.unwrap();
        assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify));
        eventually(|| rig.handle.counts().over == ended as u64 + 1).await;
    }
    let (_client, _upstream) = rig.pair().await;
    assert_eq!(rig.upstream.seen().tcp_connections, CLIENTS + 1, "nothing is pooled, nothing is used again");
}
