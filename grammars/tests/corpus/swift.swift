import Foundation

let limit = 10
typealias Handler = (String) -> Void

/// A point. struct Fake {}
public struct Point: Equatable {
    public var x: Int
    var norm: Double {
        return sqrt(Double(x * x))
    }

    init(x: Int) { self.x = x }

    static func == (a: Point, b: Point) -> Bool {
        a.x == b.x
    }

    mutating func move(by offset: Int = 1) throws -> Int? {
        x += offset
        return "\(offset > 0 ? "}" : "{")".count
    }
}

@MainActor
final class Store<Key: Hashable, Value>: NSObject
    where Value: Codable
{
    private(set) var items: [Key: Value] = [:]
    lazy var maker: () -> Int = { 1 }

    @discardableResult
    public func put(
        _ key: Key,
        value: Value
    ) async throws -> [Key: Value] {
        items[key] = value
        return items
    }

    required convenience init?(coder: NSCoder) {
        fatalError("init(coder:) has not been implemented")
    }

    deinit {
        print(#"raw "} \"#, """
        func fake() {
        """)
    }

    subscript(key: Key) -> Value? {
        get { items[key] }
    }

    enum Kind: String { case round, flat }
}

protocol Shape {
    func area() -> Double
}

extension Point: Shape {
    func area() -> Double { 0 }
}

#if DEBUG
func trace(_ text: String) {
    // TODO: implement
}
#endif
