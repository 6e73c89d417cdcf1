//! Exchanges of kubectl, curl and old clients.

use expect_test::expect;

use super::script::{check, client, client_end, server, server_end};

const GET: &str = "GET /version HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn kubectl_get_with_content_length_and_keep_alive() {
    check(
        &[
            client(
                "GET /api/v1/namespaces/default/pods?limit=500 HTTP/1.1\r\nHost: 10.96.0.1\r\n\
                 User-Agent: kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9\r\n\
                 Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json\r\n\
                 Kubectl-Command: kubectl get\r\nKubectl-Session: 3f7\r\nAccept-Encoding: gzip\r\n\r\n",
            ),
            server(
                "HTTP/1.1 200 OK\r\nAudit-Id: 5c9d1b2e\r\nCache-Control: no-cache, private\r\nContent-Type: application/json\r\n\
                 Date: Sat, 21 Nov 2026 01:38:41 GMT\r\nContent-Length: 13\r\n\r\n{\"items\":[]}\n",
            ),
            client(GET),
            server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            client_end(),
            server_end(),
        ],
        &expect![[r#"
            #1 > GET /api/v1/namespaces/default/pods?limit=500 user-agent=kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9
            #1 > end
            #1 < 200 audit-id=5c9d1b2e content-type=application/json
            #1 < body "{\"items\":[]}\n"
            #1 < end
            #2 > GET /version
            #2 > end
            #2 < 200
            #2 < end
        "#]],
    );
}

#[test]
fn watch_in_chunks_ends_with_its_last_chunk() {
    check(
        &[
            client(
                "GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=5&watch=true HTTP/1.1\r\nHost: a\r\n\
                 User-Agent: agent/v0\r\n\r\n",
            ),
            server("HTTP/1.1 200 OK\r\nContent-Type: application/json;stream=watch\r\nTransfer-Encoding: chunked\r\n\r\n"),
            server("10\r\n{\"type\":\"ADDED\"}\r\n"),
            server("5;ext=1;b=\"c\"\r\n12345\r\n0A\n0123456789\n"),
            server("0\r\nAudit-Id: in-a-trailer\r\n\r\n"),
        ],
        &expect![[r#"
            #1 > GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=5&watch=true user-agent=agent/v0
            #1 > end
            #1 < 200 content-type=application/json;stream=watch
            #1 < body "{\"type\":\"ADDED\"}123450123456789"
            #1 < end
        "#]],
    );
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    check(
        &[
            client("HEAD /readyz HTTP/1.1\r\n\r\nGET /a HTTP/1.1\r\n\r\nDELETE /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n\r\n"),
            server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"),
            server("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ],
        &expect![[r#"
            #1 > HEAD /readyz
            #1 > end
            #2 > GET /a
            #2 > end
            #3 > DELETE /b
            #3 > end
            #4 > GET /c
            #4 > end
            #1 < 200
            #1 < end
            #2 < 304
            #2 < end
            #3 < 204
            #3 < end
            #4 < 200
            #4 < body "ok"
            #4 < end
        "#]],
    );
}

#[test]
fn post_waits_for_100_continue() {
    check(
        &[
            client(
                "POST /api/v1/namespaces HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\
                 Expect: 100-continue\r\n\r\n",
            ),
            server("HTTP/1.1 100 Continue\r\n\r\n"),
            client("null"),
            server("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nnull"),
        ],
        &expect![[r#"
            #1 > POST /api/v1/namespaces content-type=application/json
            #1 < 100
            #1 > body "null"
            #1 > end
            #1 < 103
            #1 < 201
            #1 < body "null"
            #1 < end
        "#]],
    );
}

#[test]
fn refused_upload_is_answered_before_it_ends() {
    check(
        &[
            client("PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            server("HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\n\r\n"),
            client("2\r\nde\r\n0\r\n\r\n"),
            client(GET),
            server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ],
        &expect![[r#"
            #1 > PUT /a
            #1 > body "abc"
            #1 < 413
            #1 < end
            #1 > body "de"
            #1 > end
            #2 > GET /version
            #2 > end
            #2 < 200
            #2 < end
        "#]],
    );
}

#[test]
fn body_of_http_1_0_ends_with_the_connection() {
    check(
        &[
            client("GET /healthz HTTP/1.0\r\n\r\n"),
            client_end(),
            server("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok"),
            server_end(),
        ],
        &expect![[r#"
            #1 > GET /healthz
            #1 > end
            #1 < 200
            #1 < body "2\r\nok"
            #1 < end
        "#]],
    );
}

#[test]
fn bare_line_feeds_empty_lines_and_folds_are_read() {
    check(
        &[
            client("\r\n\n\r\nGET /version HTTP/1.1\nUser-Agent: old\n client\nHost: a\n\n"),
            server("HTTP/1.1 429\nRetry-After: 1\nContent-Length:\n  2\n\nno"),
        ],
        &expect![[r#"
            #1 > GET /version user-agent=old client
            #1 > end
            #1 < 429 retry-after=1
            #1 < body "no"
            #1 < end
        "#]],
    );
}

#[test]
fn service_account_token_names_its_sender() {
    // {"sub":"system:serviceaccount:kube-system:controller"}
    let token = "e30.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQ6a3ViZS1zeXN0ZW06Y29udHJvbGxlciJ9.c2ln";
    check(
        &[
            client(format!("GET /api HTTP/1.1\r\nauthorization: Bearer {token}\r\n\r\n")),
            client("GET /api HTTP/1.1\r\nAuthorization: Basic dTpw\r\n\r\n"),
        ],
        &expect![[r#"
            #1 > GET /api as Known(ServiceAccount { namespace: "kube-system", name: "controller" })
            #1 > end
            #2 > GET /api as Known(OtherScheme)
            #2 > end
        "#]],
    );
}

#[test]
fn transfer_encoding_overrides_content_length() {
    check(
        &[
            client("POST /a HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
            server(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
            ),
            client(GET),
            server("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc"),
            server_end(),
        ],
        &expect![[r#"
            #1 > POST /a
            #1 > body "a"
            #1 > end
            #1 < 200
            #1 < end
            #2 > GET /version
            #2 > end
            #2 < 200
            #2 < body "abc"
            #2 < end
        "#]],
    );
}
