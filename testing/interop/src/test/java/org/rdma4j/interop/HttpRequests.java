package org.rdma4j.interop;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.Random;

/** A client of {@link HttpServers}: java.net.http. */
final class HttpRequests {
  static final int BYTES = 100_000;

  private HttpRequests() {}

  /**
   * Sends requests to a port, and checks the answers: a number of them, once the connection has
   * found its way.
   */
  public static void main(String[] args) throws Exception {
    URI server = URI.create("http://" + HttpServers.ADDRESS + ":" + args[0] + "/");
    int count = Integer.parseInt(args[1]);
    Random random = new Random(1);
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    int left = count;
    while (left > 0) {
      if (Way.isFound()) {
        left--;
      }
      byte[] body = new byte[BYTES];
      random.nextBytes(body);
      HttpRequest request =
          HttpRequest.newBuilder(server).POST(BodyPublishers.ofByteArray(body)).build();
      HttpResponse<byte[]> response = client.send(request, BodyHandlers.ofByteArray());
      if (response.statusCode() != 200 || !Arrays.equals(response.body(), body)) {
        throw new IOException(response + " with another body");
      }
    }
    System.exit(0);
  }
}
