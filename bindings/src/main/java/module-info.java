/**
 * libibverbs and librdmacm as C has them: C names, C meaning, no safety. The package {@code
 * generated} is jextract's; the package {@code inlines} holds what the headers define as static
 * inline functions and macros.
 */
module org.rdma4j.bindings {
  requires static org.jspecify;

  exports org.rdma4j.bindings.generated;
  exports org.rdma4j.bindings.inlines;
}
