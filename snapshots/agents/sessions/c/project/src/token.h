#ifndef TOKEN_H
#define TOKEN_H

#include "ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_KEYWORD,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_MARK,
    TOKEN_ERROR,
};

struct token {
    enum token_kind kind;
    char text[128];
    size_t length;
    long value;
    int line;
    int column;
};

struct lexer {
    struct ring input;
    int line;
    int column;
    int errors;
    size_t tokens;
    char problem[96];
};

struct token_list {
    struct token *items;
    size_t length;
    size_t capacity;
};

bool lexer_open(struct lexer *lexer, size_t capacity);
void lexer_close(struct lexer *lexer);
size_t lexer_feed(struct lexer *lexer, const char *text);
bool lexer_next(struct lexer *lexer, struct token *token);
const char *token_kind_name(enum token_kind kind);
void token_print(const struct token *token, FILE *out);
void token_list_open(struct token_list *list);
bool token_list_add(struct token_list *list, const struct token *token);
size_t token_list_count(const struct token_list *list, enum token_kind kind);
const struct token *token_list_find(const struct token_list *list, const char *text);
void token_list_close(struct token_list *list);
bool lexer_all(struct lexer *lexer, struct token_list *list);

#endif
