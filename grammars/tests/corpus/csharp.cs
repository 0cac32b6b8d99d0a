using System;
using System.Collections.Generic;

#region Store
namespace Example.Store
{
    /// <summary>A store. class NotMe { }</summary>
    [Serializable, Obsolete("use }")]
    public sealed partial class Store<TKey, TValue> : IStore<TKey>, IDisposable
        where TKey : notnull
    {
        private readonly Dictionary<TKey, TValue> _items = new() { };
        public int Count { get; private set; } = 0;
        public event EventHandler? Changed;

        public Store() : this(16) { }

        public Store(int capacity)
        {
            var text = $"{(capacity > 0 ? "}" : "{")} and {{";
            var path = @"C:\";
            var raw = """
                class Fake { "x" }
                """;
        }

        [Pure]
        public async Task<List<TValue?>> FindAsync<T>(TKey key, (int a, int b) range = default)
            where T : class
        {
            await Task.Yield();
            return _items.TryGetValue(key, out var value) ? new() { value } : new();
        }

        public static bool operator ==(Store<TKey, TValue> a, Store<TKey, TValue> b) => true;
        public override string ToString() => $"{Count} items";
        void IDisposable.Dispose() => throw new NotImplementedException();
        protected abstract void Open();

#if DEBUG
        private void Trace()
        {
            // TODO
        }
#endif
    }

    public record Point(int X, int Y);

    public struct Size
    {
        public int Area() { return 1; }
    }

    public enum Color { Red, Blue }

    public delegate void Handler(object sender, EventArgs args);

    internal interface IStore<in T> { bool Has(T key); }
}
#endregion
