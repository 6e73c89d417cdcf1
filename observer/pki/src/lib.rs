//! Private certificate authorities, for one run or for the life of a pod. They issue the server certificates of the proxy and the
//! demo, and the client certificates by which the proxy recognises its clients.

mod authority;
mod stored;

pub use authority::{AuthorityError, ClientIdentity, PrivateAuthority, ServerIdentity};
pub use stored::StoredAuthorityError;
