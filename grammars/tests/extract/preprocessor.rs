//! Macros and conditionals in places where the grammars don't foresee them.

use crate::shown;

#[track_caller]
fn check(source: &str, expected: &str) {
    shown::check("a.c", source, expected);
}

/// All of `source` is one function `f`, and nothing in it is an error.
#[track_caller]
fn check_body(body: &str) {
    let source = format!("int f(int a)\n{{\n{body}\n}}\n");
    let extraction = shown::extract("a.c", source.as_bytes());
    assert_eq!(
        shown::shown(&source, &extraction),
        "top f: int f(int a) ~ }\n",
        "{body}"
    );
}

#[test]
fn macros_among_specifiers() {
    check(
        "SQLITE_API int f(void) { return 1; }\nstatic SQLITE_NOINLINE void *g(void) { return 0; }\n\
         ZSTD_DEPRECATED(\"use h2\")\nZSTDLIB_API size_t h(const void* ZSTD_RESTRICT p) { return 0; }\n\
         BOOL WINAPI i(DWORD d) { return d; }\nstatic SQLITE_WSD struct G { int a; } g1 = { 0 };\n\
         static int j(int a UNUSED) ATTRIBUTE_COLD;\nint (STDCALL *k)(int) = 0;\n\
         typedef __attribute__((aligned(1))) U16 unalign16;\n",
        "top f: SQLITE_API int f(void) { return 1; }
         top g: static SQLITE_NOINLINE void *g(void) { return 0; }
         top h: ZSTD_DEPRECATED(\"use h2\") ~ ZSTDLIB_API size_t h(const void* ZSTD_RESTRICT p) { return 0; }
         top i: BOOL WINAPI i(DWORD d) { return d; }
         top g1: static SQLITE_WSD struct G { int a; } g1 = { 0 };
         top G: static SQLITE_WSD struct G { int a; } g1 = { 0 };
         top k: int (STDCALL *k)(int) = 0;
         top unalign16: typedef __attribute__((aligned(1))) U16 unalign16;",
    );
}

#[test]
fn uppercase_types() {
    check(
        "FILE *f(void) { return 0; }\nstatic U32 g(U32 a) { return a; }\nconst BYTE *TABLE;\nHANDLE H;\n",
        "top f: FILE *f(void) { return 0; }
         top g: static U32 g(U32 a) { return a; }
         top TABLE: const BYTE *TABLE;
         top H: HANDLE H;",
    );
}

/// Macros that define functions are named by their call.
#[test]
fn test_macros() {
    check(
        "TEST(Suite, first) {\n  CHECK(1);\n}\n\nTEST( Suite, second )\n{\n}\n",
        "top TEST(Suite,first): TEST(Suite, first) { ~ }
         top TEST(Suite,second): TEST( Suite, second ) ~ }",
    );
}

#[test]
fn statement_macros() {
    check_body("  CHECK(a)\n  return a;");
    check_body("  FOREACH(a, b) {\n    a++;\n  }\n  return a;");
    check_body("  FOREACH(a, b){\n    a++;\n  }\n  return a;");
    check_body("  VVA_ONLY( int rc = 0; )\n  return a;");
    check_body("  TESTONLY( rc = ) g(a);\n  return a;");
    check_body("  Simulate( return 1 );\n  return a;");
    check_body("  do COPY8(a, b) while (a < 3);\n  return a;");
    check_body("  SEH_TRY {\n    a++;\n  }\n  return a;");
    check_body(
        "  switch (a) {\n    case 1:\n      a++;\n      fall_through\n    case 2:\n      break;\n  }\n  return a;",
    );
}

#[test]
fn odd_arguments() {
    check_body(
        "  char *p = va_arg(ap, const char*);\n  return CHECK_OP(a, ==, 1) + GLOBAL(struct s, x);",
    );
    check_body("  insert(&v, .field, a);\n  return a > 8 KB;");
    check_body("  printf(\"%\" PRIu64 \"\\n\", a);\n  return a;");
}

/// Each was an error in a real tree, or named a variable that isn't there.
#[test]
fn macros_alone() {
    check(
        "int a;\nMODULE_EXPORT_END\nEND_NAMESPACE\n\n#endif\n",
        "top a: int a;",
    );
    check("int a;\nEND_NAMESPACE\n", "top a: int a;");
    check(
        "SUPPRESS_WARNING_PUSH\nSUPPRESS_WARNING(\"-W\")\n\nTEST_CASE(\"a\")\n{\n}\n",
        "top TEST_CASE(\"a\"): TEST_CASE(\"a\") ~ }",
    );
    // The name of a function may be a macro's, and its type written in capitals.
    check(
        "BOOL\nPRIV(f)(int a)\n{\n  return a;\n}\n",
        "top f: BOOL ~ }",
    );
}

#[test]
fn types_as_arguments() {
    check(
        "DEFINE_FLAG(int, size, 8, \"bits\");\nDEFINE_FLAG(int, more, 100,\n            \"more bits\");\nint a;\n",
        "top a: int a;",
    );
    check_body("  ASSERT_OCTAL(short, 0777);\n  return a;");
    check_body("  CATCH(...) {\n    a++;\n  }\n  return a;");
    check_body("  char *s = STR_A STR_B\n    STR_C;\n  return a;");
}

/// A lambda's block begins in the middle of arguments, so no node begins where its line does.
#[test]
fn blocks_in_arguments() {
    shown::check(
        "a.cc",
        "int broken() { return = ; }\nint f() {\n  return g(\n      out, [](int a) {\n        return a;\n      });\n}\n",
        "top damaged broken: int broken() { return = ; }
         top f: int f() { ~ }
         not clean",
    );
}

/// The lines of a directive do not count as layout.
#[test]
fn directive_lines() {
    check(
        "#define BEGIN \\\n    namespace a { \\\n    inline namespace b {\n#define END \\\n    } \\\n    }\nint a = ;\n",
        "top BEGIN: #define BEGIN \\ ~ inline namespace b {
         top END: #define END \\ ~ }
         top damaged a: int a = ;
         not clean",
    );
}

/// Words that the C++ grammar knows in fewer places than compilers do.
#[test]
fn cpp_words() {
    let body = |body: &str| {
        let source = format!("void f() {{\n{body}\n}}\n");
        shown::check("a.cc", &source, "top f: void f() { ~ }");
    };
    body("  a = typename T::iterator();");
    body("  return g(typename T<U>::handle(a));");
    body("  return j.template get<T>();");
    body("  return (this->operator+(n));");
    body("  a = new const char*[n];");
    body("  CHECK_THROWS_AS(_ = g(), json::a&);");
    body("  CHECK_THROWS_AS(_ = g(), json::a const&);");
    shown::check(
        "a.cc",
        "struct S : T {\n  using typename T::type;\nPRIVATE_UNLESS_TESTED:\n  int a(int * = nullptr) { return 1; }\n};\n\
         template <typename, typename>\nstruct U {};\n\
         auto c(int *p) -> decltype(p->find('a'), int()) { return 1; }\n\
         void d(A other) noexcept (B<A>::value&&\n  C<A>::value) { other.e(); }\n",
        "top S: struct S : T { ~ };
         in S::a: int a(int * = nullptr) { return 1; }
         top U: template <typename, typename> ~ struct U {};
         top c: auto c(int *p) -> decltype(p->find('a'), int()) { return 1; }
         top d: void d(A other) noexcept (B<A>::value&& ~ C<A>::value) { other.e(); }",
    );
}

/// Names contain no directives and no comments.
#[test]
fn clean_names() {
    shown::check(
        "a.cc",
        "template <class R>\nstruct A<R, B<R>\n// As it was before.\n#if X\n   , C<R>\n#endif\n   > : D {};\n",
        "top A<R,B<R>,C<R>>: template <class R> ~ > : D {};",
    );
}

#[test]
fn split_statements() {
    check_body("#ifdef X\n  if (a) {\n#else\n  if (!a) {\n#endif\n    a++;\n  }\n  return a;");
    check_body("  if (a)\n    a++;\n#ifdef X\n  else if (b)\n    b++;\n#endif\n  return a;");
    check_body("  return g(a\n#ifdef X\n    , b\n#endif\n  );");
    check_body(
        "  static int t[] = {\n#ifdef X\n    1, 2\n#endif\n#ifdef Y\n    3, 4\n#endif\n  };\n  return t[a];",
    );
    check_body("  goto end;\nend:\n#ifdef X\n  a++;\n#endif\n  return a;");
}

#[test]
fn two_heads_one_body() {
    check(
        "#ifdef X\nint f(int a) {\n#else\nint f(void) {\n#endif\n  return 1;\n}\nint g(void) { return 2; }\n",
        "top f: int f(int a) { ~ }
         top g: int g(void) { return 2; }",
    );
}

#[test]
fn linkage_blocks() {
    check(
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) { return 1; }\n#ifdef __cplusplus\n}\n#endif\n",
        "top f: int f(void) { return 1; }",
    );
}

#[test]
fn unreadable_conditions() {
    check(
        "#if __has_include(<cet.h>) && defined X\\\n  && 1\nint f(void) { return 1; }\n#endif FOO\n\
         #define V                \\\n   ((1) /* one */ + 2)\n",
        "top f: int f(void) { return 1; }
         top V: #define V                \\ ~ ((1) /* one */ + 2)",
    );
}
