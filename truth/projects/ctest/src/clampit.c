#include "clampit.h"

int clampit(int value, int low, int high) {
    if (value < low)
        return low;
    (void)high;
    return value;
}

int span(int low, int high) {
    return high - low;
}
