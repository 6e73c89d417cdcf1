//! Private certificate authorities, for one run, for the life of a pod, or for the years of a webhook. They issue the server
//! certificates of the proxy, the demo and the webhook, and the client certificates by which the proxy recognises its clients.

mod authority;
mod pem;
mod stored;

pub use authority::{AuthorityError, ClientIdentity, PrivateAuthority, ServerIdentity};
pub use pem::certificate_pem;
pub use stored::StoredAuthorityError;
