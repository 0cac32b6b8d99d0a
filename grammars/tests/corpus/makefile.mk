# Builds all. fake: target
include config.mk

CC ?= cc
CFLAGS := -O2 \
    -Wall
CFLAGS += -g
OBJECTS = $(patsubst %.c,%.o,$(wildcard src/*.c))
export PREFIX = /usr

define BANNER
fake: not a target
	echo no
endef

.PHONY: all clean install

# The default.
all: program docs

program: $(OBJECTS) | build
	$(CC) $(CFLAGS) -o $@ $^ # link: all

	@echo "done: $@"

%.o: %.c
	$(CC) -c \
	  -o $@ $<
ifeq ($(OS),Windows_NT)
clean:
	del program
else
clean::
	rm -f program \
	  $(OBJECTS)
endif

install uninstall: program ; ./$@.sh

docs:
	# TODO
	@true
