// Keeps a copy of the config maps of its namespace, as a controller in a pod does: a shared informer of the official Java client, with
// ClientBuilder.cluster(). Its arguments and its output are those of all clients of tests/src/pod_client.

import com.google.gson.JsonObject;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.generic.GenericKubernetesApi;
import io.kubernetes.client.util.generic.KubernetesApiResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

public final class Informer {
    private static final String NAMESPACE_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";
    /** An event of this object prints the store. */
    private static final String PRINT_STORE = "print-store";
    private static final long NO_RESYNC = 0;

    public static void main(String[] arguments) throws IOException, InterruptedException {
        // A watch is a response without end.
        ApiClient client = ClientBuilder.cluster().setReadTimeout(Duration.ZERO).build();
        client.setUserAgent(arguments[0]);
        String namespace = Files.readString(Path.of(NAMESPACE_FILE));
        print("started", "library", libraryOf(ApiClient.class), "server", client.getBasePath());

        GenericKubernetesApi<V1ConfigMap, V1ConfigMapList> configMaps =
                new GenericKubernetesApi<>(V1ConfigMap.class, V1ConfigMapList.class, "", "v1", "configmaps", client);
        SharedInformerFactory factory = new SharedInformerFactory(client);
        SharedIndexInformer<V1ConfigMap> informer =
                factory.sharedIndexInformerFor(configMaps, V1ConfigMap.class, NO_RESYNC, namespace);
        informer.addEventHandler(new Printer(informer));
        factory.startAllRegisteredInformers();
        while (!informer.hasSynced()) {
            Thread.sleep(10);
        }
        print("synced");
        if (arguments.length > 1) {
            getEachSecond(configMaps, namespace, arguments[1]);
        }
        // The informer's threads keep the program alive.
    }

    /** The name of the library's file, which has its version. */
    private static String libraryOf(Class<?> type) {
        Path file = Path.of(type.getProtectionDomain().getCodeSource().getLocation().getPath());
        return file.getFileName().toString().replaceFirst("\\.jar$", "");
    }

    private static void getEachSecond(
            GenericKubernetesApi<V1ConfigMap, V1ConfigMapList> configMaps, String namespace, String name)
            throws InterruptedException {
        while (true) {
            KubernetesApiResponse<V1ConfigMap> response = configMaps.get(namespace, name);
            if (response.isSuccess()) {
                print("got", "name", name);
            } else {
                print("failed", "error", response.getStatus().toString());
            }
            Thread.sleep(1000);
        }
    }

    private record Printer(SharedIndexInformer<V1ConfigMap> informer) implements ResourceEventHandler<V1ConfigMap> {
        @Override
        public void onAdd(V1ConfigMap object) {
            happened("added", object.getMetadata());
        }

        @Override
        public void onUpdate(V1ConfigMap before, V1ConfigMap after) {
            happened("updated", after.getMetadata());
        }

        @Override
        public void onDelete(V1ConfigMap object, boolean finalStateUnknown) {
            happened("deleted", object.getMetadata());
        }

        private void happened(String event, V1ObjectMeta metadata) {
            print(event, "name", metadata.getName(), "resourceVersion", metadata.getResourceVersion());
            if (metadata.getName().equals(PRINT_STORE)) {
                JsonObject objects = new JsonObject();
                for (V1ConfigMap object : informer.getIndexer().list()) {
                    objects.addProperty(object.getMetadata().getName(), object.getMetadata().getResourceVersion());
                }
                JsonObject line = line("store");
                line.add("objects", objects);
                print(line);
            }
        }
    }

    private static void print(String event, String... more) {
        JsonObject line = line(event);
        for (int at = 0; at < more.length; at += 2) {
            line.addProperty(more[at], more[at + 1]);
        }
        print(line);
    }

    private static JsonObject line(String event) {
        JsonObject line = new JsonObject();
        line.addProperty("event", event);
        return line;
    }

    private static void print(JsonObject line) {
        System.out.println(line);
        // Without this, the program would outlive its test.
        if (System.out.checkError()) {
            Runtime.getRuntime().halt(1);
        }
    }
}
