/* What jextract reads for the provider mlx5, whose library is libmlx5. */
#include <infiniband/mlx5dv.h>
