void echoes(const char *word, int times);
