//! Lists in pages (§6.1, §6.4 of docs/semantics.md, T14).

use expect_test::expect;

use crate::script::check;

/// T14, 1.18 to 1.34, after a first list in pages: the second page is refused, and the pager asks for a complete list at the same
/// revision.
#[test]
fn page_refused_with_410_leads_to_a_list_without_pages() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500
         40ms a3 whole rv=10 y@6
         50ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         55ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?limit=500&resourceVersion=10
         121220ms a7 whole rv=10 x@5 continue
         121230ms a9 GET /api/v1/pods?continue=@10&limit=500
         121240ms a9 refused 410 Expired
         121250ms a11 GET /api/v1/pods?resourceVersion=10
         121280ms a11 whole rv=50 x@5 y@6 z@45
         121290ms a13 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=50&timeoutSeconds=333&watch=true
         121295ms a13 opens",
        &expect![[r"
            40ms initial-list #1 requests=2 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121250ms relist-began #1 cause=continue-expired
            121280ms relist #1 cause=continue-expired requests=1 items=3 known=2/3
            #1 client 1 pods · all namespaces watching rv=50 age=From1_18 lists=5 watches=2 resumes=0 relists=2 known=2/5
        "]],
    );
}

/// Pages, 1.17 and later, with a page that the transport repeats.
#[test]
fn pages_and_their_repetitions_belong_to_one_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500
         40ms a3 whole rv=10 y@6 continue
         45ms a5 GET /api/v1/pods?continue=@10&limit=500
         50ms a5 refused 429 TooManyRequests retry-after=1
         1055ms a7 GET /api/v1/pods?continue=@10&limit=500
         1070ms a7 whole rv=10 z@7
         1080ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         1085ms a9 opens",
        &expect![[r"
            1070ms initial-list #1 requests=4 items=3 known=0/3
            #1 client 1 pods · all namespaces watching rv=10 lists=4 watches=1 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// T14, all releases: the second page of the first list is refused, and the pager asks for a complete list at that list's version,
/// 0.
#[test]
fn page_of_the_first_list_refused_with_410_belongs_to_the_first_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 y@6 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500
         40ms a3 refused 410 Expired
         45ms a5 GET /api/v1/pods?resourceVersion=0
         90ms a5 whole rv=50 x@5 y@6 z@45
         95ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=50&timeoutSeconds=500&watch=true
         99ms a7 opens",
        &expect![[r"
            90ms initial-list #1 requests=3 items=3 known=0/3
            #1 client 1 pods · all namespaces watching rv=50 lists=3 watches=1 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// T6 after a first list in pages, 1.18 to 1.34 (§6.1): a list at its own revision with a limit, which does not show the release.
#[test]
fn paged_relist_at_its_own_revision_is_one_relist() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500
         40ms a3 whole rv=10 y@6
         50ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         55ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?limit=500&resourceVersion=10
         121220ms a7 whole rv=10 x@5 continue
         121230ms a9 GET /api/v1/pods?continue=@10&limit=500
         121240ms a9 whole rv=10 y@6
         121290ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=333&watch=true
         121295ms a11 opens",
        &expect![[r"
            40ms initial-list #1 requests=2 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121240ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=10 lists=4 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// Pages, 1.16 (§6.1): the requests for pages keep `resourceVersion=0`.
#[test]
fn pages_that_keep_the_revision_zero_belong_to_their_list() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500&resourceVersion=0
         40ms a3 whole rv=10 y@6
         50ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         55ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121003ms a7 GET /api/v1/pods?limit=500&resourceVersion=0
         121020ms a7 whole rv=10 x@5 continue
         121030ms a9 GET /api/v1/pods?continue=@10&limit=500&resourceVersion=0
         121040ms a9 whole rv=10 y@6
         121090ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=333&watch=true
         121095ms a11 opens",
        &expect![[r"
            40ms initial-list #1 requests=2 items=2 known=0/2
            121003ms relist-began #1 cause=watch-error/500
            121040ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=10 age=Until1_17 lists=4 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}
