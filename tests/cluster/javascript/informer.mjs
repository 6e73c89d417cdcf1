// Keeps a copy of the config maps of its namespace, as a controller in a pod does: an informer of the official JavaScript client, with
// loadFromCluster. Its arguments and its output are those of all clients of tests/src/pod_client.

import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, makeInformer, setHeaderOptions } from '@kubernetes/client-node';

// An event of this object prints the store.
const PRINT_STORE = 'print-store';
const PAUSE_AFTER_ERROR = 1000;

const [userAgent, got] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromCluster();
identify(config, userAgent);
const { namespace } = config.getContextObject(config.getCurrentContext());
const core = config.makeApiClient(CoreV1Api);
const options = setHeaderOptions('User-Agent', userAgent);
const { version } = JSON.parse(readFileSync(new URL('node_modules/@kubernetes/client-node/package.json', import.meta.url)));
print('started', { library: `@kubernetes/client-node ${version}`, server: config.getCurrentCluster().server });

// The list function resolves before the informer has the objects, so the client counts as synced one turn later.
const list = async () => {
    const listed = await core.listNamespacedConfigMap({ namespace }, options);
    setImmediate(() => print('synced'));
    return listed;
};
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
for (const [verb, event] of [['add', 'added'], ['update', 'updated'], ['delete', 'deleted']]) {
    informer.on(verb, ({ metadata }) => {
        print(event, { name: metadata.name, resourceVersion: metadata.resourceVersion });
        if (metadata.name === PRINT_STORE) {
            const stored = informer.list(namespace).map((object) => [object.metadata.name, object.metadata.resourceVersion]);
            print('store', { objects: Object.fromEntries(stored) });
        }
    });
}
// An informer stops at an error, unless its program starts it again.
informer.on('error', (error) => {
    print('failed', { error: String(error) });
    setTimeout(() => informer.start(), PAUSE_AFTER_ERROR);
});
await informer.start();

if (got !== undefined) {
    setInterval(async () => {
        try {
            await core.readNamespacedConfigMap({ name: got, namespace }, options);
            print('got', { name: got });
        } catch (error) {
            print('failed', { error: String(error) });
        }
    }, 1000);
}

// The client has no setting for the user agent of its watches. Each request passes through this method.
function identify(config, userAgent) {
    const authenticate = config.applySecurityAuthentication.bind(config);
    config.applySecurityAuthentication = async (context) => {
        await authenticate(context);
        context.setHeaderParam('User-Agent', userAgent);
    };
}

function print(event, more) {
    process.stdout.write(`${JSON.stringify({ event, ...more })}\n`);
}
