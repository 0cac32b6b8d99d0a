#include "token.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const KEYWORDS[] = {
    "if", "else", "while", "return", "let", "fn",
};

static const char *const KIND_NAMES[] = {
    "end", "name", "keyword", "number", "string", "mark", "error",
};

/* Classes of characters. */

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_mark(int c)
{
    return c != '\0' && c > 0 && strchr("+-*/=<>!&|(){}[];,.", c) != NULL;
}

static int digit_value(int c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

/* The lexer's place in its input. */

static int peek(const struct lexer *lexer, size_t at)
{
    if (at >= lexer->input.length) {
        return -1;
    }
    return ring_peek(&lexer->input, at);
}

static int advance(struct lexer *lexer)
{
    if (lexer->input.length == 0) {
        return -1;
    }
    int c = ring_pop(&lexer->input);
    if (c == '\n') {
        lexer->line++;
        lexer->column = 1;
    } else {
        lexer->column++;
    }
    return c;
}

static bool accept(struct lexer *lexer, int wanted)
{
    if (peek(lexer, 0) != wanted) {
        return false;
    }
    advance(lexer);
    return true;
}

static void problem(struct lexer *lexer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(lexer->problem, sizeof lexer->problem, format, arguments);
    va_end(arguments);
    lexer->errors++;
}

/* Building one token. */

static void token_begin(const struct lexer *lexer, struct token *token)
{
    memset(token, 0, sizeof *token);
    token->kind = TOKEN_END;
    token->line = lexer->line;
    token->column = lexer->column;
}

static bool token_append(struct token *token, int c)
{
    if (token->length + 1 >= sizeof token->text) {
        return false;
    }
    token->text[token->length] = (char)c;
    token->length++;
    token->text[token->length] = '\0';
    return true;
}

static bool is_keyword(const char *text)
{
    for (size_t i = 0; i < sizeof KEYWORDS / sizeof KEYWORDS[0]; i++) {
        if (strcmp(KEYWORDS[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static void skip_line(struct lexer *lexer)
{
    while (peek(lexer, 0) != -1 && peek(lexer, 0) != '\n') {
        advance(lexer);
    }
}

static void skip_blank(struct lexer *lexer)
{
    for (;;) {
        if (is_blank(peek(lexer, 0))) {
            advance(lexer);
        } else if (peek(lexer, 0) == '#') {
            skip_line(lexer);
        } else {
            return;
        }
    }
}

static bool scan_name(struct lexer *lexer, struct token *token)
{
    token->kind = TOKEN_NAME;
    while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0))) {
        if (!token_append(token, advance(lexer))) {
            problem(lexer, "the name is too long");
            return false;
        }
    }
    if (is_keyword(token->text)) {
        token->kind = TOKEN_KEYWORD;
    }
    return true;
}

static bool scan_digits(struct lexer *lexer, struct token *token, int base)
{
    size_t before = token->length;
    for (;;) {
        int digit = digit_value(peek(lexer, 0));
        if (digit < 0 || digit >= base) {
            break;
        }
        token->value = token->value * base + digit;
        if (!token_append(token, advance(lexer))) {
            problem(lexer, "the number is too long");
            return false;
        }
    }
    return token->length > before;
}

static bool scan_number(struct lexer *lexer, struct token *token)
{
    token->kind = TOKEN_NUMBER;
    if (peek(lexer, 0) == '0' && peek(lexer, 1) == 'x') {
        token_append(token, advance(lexer));
        token_append(token, advance(lexer));
        return scan_digits(lexer, token, 16);
    }
    return scan_digits(lexer, token, 10);
}

static int scan_escape(struct lexer *lexer)
{
    int c = advance(lexer);
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case '\\':
    case '"':
        return c;
    default:
        problem(lexer, "unknown escape");
        return -1;
    }
}

static bool scan_string(struct lexer *lexer, struct token *token)
{
    token->kind = TOKEN_STRING;
    advance(lexer);
    for (;;) {
        int c = advance(lexer);
        if (c == '"') {
            return true;
        }
        if (c == '\\') {
            c = scan_escape(lexer);
        }
        if (c < 0 || !token_append(token, c)) {
            problem(lexer, "the string doesn't end");
            return false;
        }
    }
}

static bool scan_mark(struct lexer *lexer, struct token *token)
{
    int first = advance(lexer);
    token->kind = TOKEN_MARK;
    token_append(token, first);
    if (strchr("=<>!", first) != NULL && accept(lexer, '=')) {
        token_append(token, '=');
    }
    return true;
}

/* The lexer. */

bool lexer_open(struct lexer *lexer, size_t capacity)
{
    memset(lexer, 0, sizeof *lexer);
    lexer->line = 1;
    lexer->column = 1;
    return ring_open(&lexer->input, capacity);
}

void lexer_close(struct lexer *lexer)
{
    ring_close(&lexer->input);
}

size_t lexer_feed(struct lexer *lexer, const char *text)
{
    return ring_write(&lexer->input, text, strlen(text));
}

static bool scan(struct lexer *lexer, struct token *token)
{
    int c = peek(lexer, 0);
    if (is_letter(c)) {
        return scan_name(lexer, token);
    }
    if (is_digit(c)) {
        return scan_number(lexer, token);
    }
    if (c == '"') {
        return scan_string(lexer, token);
    }
    if (is_mark(c)) {
        return scan_mark(lexer, token);
    }
    token_append(token, advance(lexer));
    problem(lexer, "unexpected character");
    return false;
}

bool lexer_next(struct lexer *lexer, struct token *token)
{
    skip_blank(lexer);
    token_begin(lexer, token);
    if (peek(lexer, 0) == -1) {
        return false;
    }
    if (!scan(lexer, token)) {
        token->kind = TOKEN_ERROR;
    }
    lexer->tokens++;
    return true;
}

bool lexer_all(struct lexer *lexer, struct token_list *list)
{
    struct token token;
    while (lexer_next(lexer, &token)) {
        if (!token_list_add(list, &token)) {
            return false;
        }
    }
    return lexer->errors == 0;
}

/* What tokens are called, and how they look. */

const char *token_kind_name(enum token_kind kind)
{
    return KIND_NAMES[kind];
}

void token_print(const struct token *token, FILE *out)
{
    fprintf(out, "%d:%d %s", token->line, token->column, token_kind_name(token->kind));
    if (token->length > 0) {
        fprintf(out, " '%s'", token->text);
    }
    fputc('\n', out);
}

/* A list of tokens. */

void token_list_open(struct token_list *list)
{
    list->items = NULL;
    list->length = 0;
    list->capacity = 0;
}

static bool token_list_grow(struct token_list *list)
{
    size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
    struct token *items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL) {
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

bool token_list_add(struct token_list *list, const struct token *token)
{
    if (list->length == list->capacity && !token_list_grow(list)) {
        return false;
    }
    list->items[list->length] = *token;
    list->length++;
    return true;
}

size_t token_list_count(const struct token_list *list, enum token_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < list->length; i++) {
        if (list->items[i].kind == kind) {
            count++;
        }
    }
    return count;
}

const struct token *token_list_find(const struct token_list *list, const char *text)
{
    for (size_t i = 0; i < list->length; i++) {
        if (strcmp(list->items[i].text, text) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

void token_list_close(struct token_list *list)
{
    free(list->items);
    token_list_open(list);
}
