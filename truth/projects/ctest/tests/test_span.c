#include "clampit.h"

int main(void) {
    return span(2, 7) == 5 ? 0 : 1;
}
