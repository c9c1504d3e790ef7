/* What jextract reads for the provider efa, whose library is libefa. */
#include <infiniband/efadv.h>
