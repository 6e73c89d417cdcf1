//! The certificate authority of one run. It issues the server certificates of the proxy and the demo, and the client certificates
//! by which the proxy recognises its clients.

mod authority;

pub use authority::{AuthorityError, ClientIdentity, PrivateAuthority};
