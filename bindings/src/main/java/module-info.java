/**
 * libibverbs and librdmacm as C sees them: C names, C semantics, no safety checks. The package
 * {@code generated} is the output of jextract. The package {@code inlines} contains what the
 * headers define as static inline functions and macros. The packages {@code mlx5} and {@code efa}
 * are the functions of these two providers alone. The root package loads the libraries.
 */
module org.rdma4j.bindings {
  requires static org.jspecify;

  exports org.rdma4j.bindings;
  exports org.rdma4j.bindings.generated;
  exports org.rdma4j.bindings.efa;
  exports org.rdma4j.bindings.efa.generated;
  exports org.rdma4j.bindings.inlines;
  exports org.rdma4j.bindings.mlx5;
  exports org.rdma4j.bindings.mlx5.generated;
}
