#include "clampit.h"
#include <assert.h>

int main(void) {
    assert(clampit(5, 0, 9) == 5);
    assert(clampit(-5, 0, 9) == 0);
    assert(clampit(50, 0, 9) == 9);
    return 0;
}
