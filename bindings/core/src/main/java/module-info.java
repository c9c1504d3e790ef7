/**
 * libibverbs and librdmacm as C sees them: C names, C semantics, no safety checks. The package
 * {@code generated} is the output of jextract. The package {@code inlines} contains what the
 * headers define as static inline functions and macros. The root package loads the libraries. The
 * functions of the providers mlx5 and EFA are in a module of their own, {@code
 * org.rdma4j.bindings.providers}.
 */
module org.rdma4j.bindings {
  requires static org.jspecify;

  exports org.rdma4j.bindings;
  exports org.rdma4j.bindings.generated;
  exports org.rdma4j.bindings.inlines;
}
