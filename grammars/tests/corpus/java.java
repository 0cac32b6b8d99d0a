package com.example.store;

import java.util.*;

/** A store. class NotMe { } */
@Service("{")
public final class Store<K extends Comparable<K>, V> implements Iterable<V> {
    private static final Map<String, List<Integer>> SIZES = new HashMap<>() {{
        put("a", List.of(1));
    }};
    private final char brace = '{';

    static {
        System.out.println("}");
    }

    public Store() {
        this(16);
    }

    Store(int capacity) throws IllegalArgumentException {
        if (capacity < 0) { throw new IllegalArgumentException("""
            class Fake { "quoted" """); }
    }

    /** Puts. */
    @Override
    @SuppressWarnings({"unchecked", "raw"})
    public synchronized <T extends V> Map.Entry<K, T> put(final K key, T value) throws IOException {
        return new AbstractMap.SimpleEntry<>(key, value) {
            public String toString() { return "x"; }
        };
    }

    public int[] sizes(List<Map<String, V>> of) { return new int[] { 1, 2 }; }

    abstract void open();

    private void later() {
        throw new UnsupportedOperationException("later");
    }

    enum Color {
        RED(1) { @Override int code() { return 2; } },
        BLUE(3);

        private final int code;
        Color(int code) { this.code = code; }
        int code() { return code; }
    }

    record Point(int x, int y) {
        Point {
            if (x < 0) throw new IllegalArgumentException();
        }
        double norm() { return Math.sqrt(x * x + y * y); }
    }

    interface Visitor<R> {
        R visit(Point point);
        default R none() { return null; }
    }

    @interface Marker { String value() default ""; }
}
