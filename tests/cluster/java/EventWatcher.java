// Watches the events of a namespace from one resource version with fabric8's client, and from the same one when the watch ends, as in
// fabric8io/kubernetes-client issue 7896. After the line "list" on standard input, it ends its watch, lists, and watches from that
// list's version. It exits at the end of standard input.
//
// Its arguments are the namespace and the resource version. `java` compiles this file by itself.

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public final class EventWatcher {
    private static final long PAUSE_MILLISECONDS = 200;

    public static void main(String[] arguments) throws InterruptedException {
        Config config = new ConfigBuilder().withUserAgent("order-monitor/1.0").build();
        BlockingQueue<String> news = new LinkedBlockingQueue<>();
        Thread input = new Thread(() -> {
            new BufferedReader(new InputStreamReader(System.in)).lines().forEach(news::add);
            System.exit(0);
        });
        input.setDaemon(true);
        input.start();
        try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
            follow(client.v1().events().inNamespace(arguments[0]), arguments[1], news);
        }
    }

    private static void follow(
            NonNamespaceOperation<Event, EventList, Resource<Event>> events, String version, BlockingQueue<String> news)
            throws InterruptedException {
        Watcher<Event> watcher = new Watcher<>() {
            @Override
            public void eventReceived(Action action, Event event) {
                System.out.println(action + " " + event.getMetadata().getResourceVersion());
            }

            @Override
            public void onClose(WatcherException cause) {
                news.add("the watch ended: " + cause.getMessage());
            }
        };
        while (true) {
            ListOptions options = new ListOptionsBuilder().withResourceVersion(version).build();
            String line;
            try (Watch watch = events.watch(options, watcher)) {
                line = news.take();
                System.out.println(line);
            }
            Thread.sleep(PAUSE_MILLISECONDS);
            if (line.equals("list") || news.remove("list")) {
                version = events.list().getMetadata().getResourceVersion();
            }
        }
    }
}
