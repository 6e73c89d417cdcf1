//! The certificate authority of one run: the proxy and the demo serve its certificates, credential plugins and clients are admitted
//! by them.

mod authority;

pub use authority::{AuthorityError, ClientIdentity, PrivateAuthority};
