package org.rdma4j.connection.simulation;

import java.util.ArrayList;
import java.util.List;
import org.rdma4j.testing.SimulatedAdapter;

/** What happens next to two nodes. */
enum NodeStep {
  /** The thread that drives a node takes a few events, so what comes next finds the rest. */
  POLL {
    @Override
    void make(NodeSimulation s, int n) {
      s.poll(n, 1 + n / 2 % 4);
    }
  },
  POLL_ALL {
    @Override
    void make(NodeSimulation s, int n) {
      s.poll(n, Integer.MAX_VALUE);
    }
  },
  /** The device and the connection manager have their own threads. */
  WAIT {
    @Override
    void make(NodeSimulation s, int n) {
      NodeSimulation.pause();
    }
  },
  CONNECT {
    @Override
    void make(NodeSimulation s, int n) {
      s.connect(n, n / 2);
    }
  },
  SEND {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(end -> end.send(n % 120, n % 3 == 0));
    }
  },
  /** Some of them go in one packet. */
  SEND_MANY {
    @Override
    void make(NodeSimulation s, int n) {
      for (int i = 0; i < 12; i++) {
        s.end(n).ifPresent(end -> end.send(0, false));
      }
    }
  },
  /** Offered to the peer, which reads it. */
  SEND_LONG {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(end -> end.send(NodeSimulation.BUFFER * (2 + n % 9), false));
    }
  },
  REQUEST {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(end -> end.request(n % (2 * NodeSimulation.BUFFER)));
    }
  },
  PAUSE {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(End::pause);
    }
  },
  RESUME {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(End::resume);
    }
  },
  GIVE_BACK {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(End::release);
    }
  },
  DECIDE {
    @Override
    void make(NodeSimulation s, int n) {
      s.decide(n);
    }
  },
  TASK {
    @Override
    void make(NodeSimulation s, int n) {
      s.task(n);
    }
  },
  END_OUTPUT {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(End::endOutput);
    }
  },
  CLOSE {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(End::close);
    }
  },
  ABORT {
    @Override
    void make(NodeSimulation s, int n) {
      s.end(n).ifPresent(End::abort);
    }
  },
  CLOSE_SERVER {
    @Override
    void make(NodeSimulation s, int n) {
      s.closeServer(n);
    }
  },
  /** From now on, messages of the connection manager arrive as the next steps say. */
  KEEP_MESSAGES {
    @Override
    void make(NodeSimulation s, int n) {
      SimulatedAdapter.keepMessages(true);
    }
  },
  /** It overtakes messages that were sent before. */
  DELIVER_MESSAGE {
    @Override
    void make(NodeSimulation s, int n) {
      SimulatedAdapter.message(n % Math.max(1, SimulatedAdapter.keptMessages()), false);
    }
  },
  DELIVER_MESSAGES {
    @Override
    void make(NodeSimulation s, int n) {
      SimulatedAdapter.keepMessages(false);
    }
  },
  LOSE_MESSAGE {
    @Override
    void make(NodeSimulation s, int n) {
      if (SimulatedAdapter.message(n % Math.max(1, SimulatedAdapter.keptMessages()), true)) {
        s.disturbed("a lost message");
      }
    }
  },
  /** The connection manager gives up what waits for an answer. */
  EXPIRE {
    @Override
    void make(NodeSimulation s, int n) {
      s.disturbed("the end of all times");
      SimulatedAdapter.expire();
    }
  },
  REFUSE_CALLS {
    @Override
    void make(NodeSimulation s, int n) {
      s.refuse(2 + n % 40, n);
    }
  },
  REFUSE_NO_CALL {
    @Override
    void make(NodeSimulation s, int n) {
      SimulatedAdapter.refuseNone();
    }
  },
  REFUSE_MEMORY {
    @Override
    void make(NodeSimulation s, int n) {
      s.disturbed("no memory");
      SimulatedAdapter.pinLimit(n % 2 == 0 ? 0 : 1 << 20);
    }
  },
  ALLOW_MEMORY {
    @Override
    void make(NodeSimulation s, int n) {
      SimulatedAdapter.pinLimit(-1);
    }
  },
  PULL_CABLE {
    @Override
    void make(NodeSimulation s, int n) {
      s.disturbed("a cable");
      SimulatedAdapter.port(false);
    }
  },
  PLUG_CABLE {
    @Override
    void make(NodeSimulation s, int n) {
      SimulatedAdapter.port(true);
    }
  },
  REMOVE_DEVICE {
    @Override
    void make(NodeSimulation s, int n) {
      s.disturbed("a removed device");
      SimulatedAdapter.remove();
    }
  };

  /** Nothing ends, so everything must arrive. */
  static final List<NodeStep> PEACEFUL =
      List.of(
          POLL,
          POLL,
          POLL,
          POLL_ALL,
          WAIT,
          CONNECT,
          SEND,
          SEND,
          SEND_MANY,
          SEND_LONG,
          REQUEST,
          PAUSE,
          RESUME,
          GIVE_BACK,
          DECIDE,
          TASK,
          KEEP_MESSAGES,
          DELIVER_MESSAGE,
          DELIVER_MESSAGES);

  /** Programs end connections at any time. */
  static final List<NodeStep> ENDING = with(PEACEFUL, END_OUTPUT, CLOSE, ABORT, CLOSE_SERVER);

  /** The network and the kernel fail. */
  static final List<NodeStep> FAILING =
      with(
          ENDING,
          LOSE_MESSAGE,
          EXPIRE,
          REFUSE_CALLS,
          REFUSE_NO_CALL,
          REFUSE_MEMORY,
          ALLOW_MEMORY,
          PULL_CABLE,
          PLUG_CABLE);

  /** And the device is removed. */
  static final List<NodeStep> REMOVING = with(FAILING, REMOVE_DEVICE);

  abstract void make(NodeSimulation s, int n);

  private static List<NodeStep> with(List<NodeStep> some, NodeStep... more) {
    List<NodeStep> all = new ArrayList<>(some);
    all.addAll(List.of(more));
    return List.copyOf(all);
  }

  /** Makes the step that a number stands for. */
  static void make(List<NodeStep> steps, NodeSimulation simulation, int number) {
    steps.get(number % steps.size()).make(simulation, number / steps.size());
  }
}
