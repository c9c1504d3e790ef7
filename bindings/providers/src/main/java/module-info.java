/**
 * What the providers mlx5 and EFA have in addition to the verbs, as C sees it: C names, C
 * semantics, no safety checks. The packages {@code generated} are the output of jextract. Their
 * functions take the pointers of C objects, as the {@code handle()} methods of {@code org.rdma4j}
 * return them.
 */
module org.rdma4j.bindings.providers {
  requires static org.jspecify;
  requires transitive org.rdma4j.bindings;

  exports org.rdma4j.bindings.efa;
  exports org.rdma4j.bindings.efa.generated;
  exports org.rdma4j.bindings.mlx5;
  exports org.rdma4j.bindings.mlx5.generated;
}
