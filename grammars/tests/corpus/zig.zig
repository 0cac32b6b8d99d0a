//! A ring. fn notMe() void {}
const std = @import("std");

/// Largest ring.
pub const capacity_max: usize = 1 << 20;
var counter: u32 = 0;
const names = [_][]const u8{ "}", "\"" };
const text =
    \\fn fake() void {
    \\}
;

pub const Error = error{ Full, Empty };

/// A point.
pub const Point = struct {
    x: i32 = 0,
    y: i32,

    pub const origin = Point{ .x = 0, .y = 0 };

    pub fn init(x: i32, y: i32) Point {
        return .{ .x = x, .y = y };
    }

    fn norm(self: Point) f64 {
        const brace = '{';
        _ = brace;
        return @sqrt(@as(f64, @floatFromInt(self.x)));
    }
};

const Kind = enum(u8) { round, flat };

const Shape = union(enum) {
    circle: f64,
    square: struct { side: f64 },
};

pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        pub fn len(self: @This()) usize {
            return self.items.len;
        }
    };
}

fn push(list: anytype, item: u8) error{ Full, Empty }!void {
    if (list.full()) return error.Full;
    list.add(item);
}

export fn later() callconv(.C) void {
    @panic("not implemented");
}

extern fn strlen(text: [*:0]const u8) usize;

test "a ring works {" {
    try std.testing.expect(true);
}
