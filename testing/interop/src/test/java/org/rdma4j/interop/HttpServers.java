package org.rdma4j.interop;

import com.sun.net.httpserver.HttpServer;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.Executors;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;

/** Programs that answer each HTTP request with its body, each in the way of one server. */
final class HttpServers {
  static final String ADDRESS = "127.0.0.1";
  static final String LISTENS = "listens on port ";

  private HttpServers() {}

  private static void listens(int port) {
    System.out.println(LISTENS + port);
  }

  /** The server of the JDK. */
  static final class Jdk {
    private Jdk() {}

    public static void main(String[] args) throws Exception {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
      server.createContext(
          "/",
          exchange -> {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
          });
      server.start();
      listens(server.getAddress().getPort());
    }
  }

  /** Tomcat with its NIO connector, embedded. */
  static final class EmbeddedTomcat {
    private EmbeddedTomcat() {}

    public static void main(String[] args) throws Exception {
      Tomcat tomcat = new Tomcat();
      tomcat.setBaseDir(args[0]);
      tomcat.setPort(0);
      tomcat.setHostname(ADDRESS);
      tomcat.getConnector().setProperty("address", ADDRESS);
      // Otherwise it closes the connection after 100 requests.
      tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
      Context context = tomcat.addContext("", null);
      Tomcat.addServlet(context, "echo", new Echo());
      context.addServletMappingDecoded("/", "echo");
      tomcat.start();
      listens(tomcat.getConnector().getLocalPort());
      tomcat.getServer().await();
    }

    private static final class Echo extends HttpServlet {
      private static final long serialVersionUID = 1;

      @Override
      protected void doPost(HttpServletRequest request, HttpServletResponse response)
          throws IOException {
        byte[] body = request.getInputStream().readAllBytes();
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
      }
    }
  }

  /** Jetty. */
  static final class Jetty {
    private Jetty() {}

    public static void main(String[] args) throws Exception {
      Server server = new Server();
      ServerConnector connector = new ServerConnector(server);
      connector.setHost(ADDRESS);
      server.addConnector(connector);
      server.setHandler(
          new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback)
                throws Exception {
              ByteBuffer body = Content.Source.asByteBuffer(request);
              response.write(true, body, callback);
              return true;
            }
          });
      server.start();
      listens(connector.getLocalPort());
      server.join();
    }
  }
}
