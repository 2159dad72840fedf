// Shardlab.java
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Pattern;

class Shardlab {
    final String uri, control;

    Shardlab(int shards) throws Exception {
        Process up = new ProcessBuilder(("npx shardlab up --json --port 0 --runtime inline --control-port 0"
            + " --exit-with-parent --shards " + shards).split(" ")).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String ready = new BufferedReader(new InputStreamReader(up.getInputStream())).readLine();
        uri = field(ready, "uri");
        control = field(ready, "control");
    }

    /** @return the reply, as JSON */
    String call(String method, String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(control + "/clusters/main/" + path))
            .method(method, HttpRequest.BodyPublishers.noBody()).build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IllegalStateException(response.body());
        return response.body();
    }

    static String field(String json, String name) {
        return Pattern.compile("\"" + name + "\":\"?([^\",}]+)").matcher(json).results().findFirst().get().group(1);
    }
}
