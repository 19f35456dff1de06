#include "echoes.h"
#include <stdlib.h>

int main(int count, char **words) {
    if (count != 3)
        return 2;
    echoes(words[1], atoi(words[2]));
    return 0;
}
