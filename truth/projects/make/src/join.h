int join(char *to, int room, const char *sign, int count, char **words);
