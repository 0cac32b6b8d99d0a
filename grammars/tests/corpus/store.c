/*
** A small store, written in the manner of embedded databases: prefixes for linkage, statement macros,
** conditionals wherever they happen to be handy. Each "defines:" comment lists what follows it.
*/
#ifndef STORE_C
#define STORE_C

#include <stdint.h>
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* defines: STORE_MAGIC STORE_MIN */
#define STORE_MAGIC 0x53544f52u
#if defined(__GNUC__) && __has_include(<sys/mman.h>)
# define STORE_MIN(a, b)           \
    ((a) < (b) /* the smaller */ ? \
     (a) : (b))
#endif

/* defines: Page */
typedef struct Page Page;

/* defines: Page Slot */
struct Page {
  uint32_t nRef;
#ifdef STORE_DEBUG
  const char *zWhere;
#endif
  struct Slot { int iKey; int nByte; } aSlot[16];
};

/* defines: storeGlobal StoreGlobal */
static STORE_WSD struct StoreGlobal {
  Page *pFirst;
  int nPage;
} storeGlobal = { 0, 0 };

/* defines: azError */
static const char *const azError[] = {
#ifdef STORE_VERBOSE
  /* OK */   "not an error",
  /* FULL */ "the store is full"
#else
  "ok", "full"
#endif
};

STORE_API int storeOpen(const char *zName);
extern int storeTrace;

/* defines: storeRef */
static STORE_NOINLINE Page *storeRef(Page *STORE_RESTRICT p) STORE_NOEXCEPT
{
  STORE_ASSERT(p != 0)
  TESTONLY( int nOld = p->nRef; )
  p->nRef++;
  return p;
}

/* defines: storeClose */
STORE_DEPRECATED("use storeShutdown()")
STORE_API int storeClose(
  Page *p,     /* the page */
  int mFlags   /* how to close it */
){
  int rc = 0;
#ifdef STORE_THREADSAFE
  if( mutexHeld(p) ){
#else
  if( p->nRef>0 ){
#endif
    rc = 1;
  }else if( mFlags ){
    FOREACH_SLOT(p, i) {
      rc += p->aSlot[i].nByte;
    }
  }
#ifndef STORE_OMIT_TRACE
  else{
    traceClose(p, "%" PRIu32 "\n", p->nRef);
  }
#endif
  switch( rc ){
    case 0:
      deliberate_fall_through
    case 1:
      break;
  }
  return rc;
}

/* defines: storeHash */
unsigned storeHash(z, n)
  const char *z;
  int n;
{
  unsigned h = 0;
  while( n-- > 0 ) h = h*31 + *z++;
  return h;
}

/* defines: storeFind storeFind */
#if STORE_BTREE
static int storeFind(Page *p, int k){ return p->aSlot[0].iKey==k; }
#else
static int storeFind(Page *p, int k){ return p->nRef==(unsigned)k; }
#endif

/* defines: xStoreLog */
void (STORE_CDECL *xStoreLog)(void*, const char*) = 0;

/* defines: STORE_TEST(open,twice) */
STORE_TEST(open, twice)
{
  STORE_CHECK(storeOpen("a"), ==, 0);
}

#ifdef __cplusplus
}
#endif
#endif /* STORE_C */
