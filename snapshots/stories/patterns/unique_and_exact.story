# Ruby has no grammar here: each pattern matches exactly and once, so the code is CONFIRMED.
law 4.1 (2) | A pattern of `symbols.json`, unique and exact: CONFIRMED | pattern_match
law 4.1 | Then the patterns of `symbols.json`: unique and exact, or in part

user
| ```ruby:lib/store.rb
| require 'set'
|
| class Store
|   def put(key, value)
|     @items[key] = value
|     value
|   end
|
|   def get(key)
|     @items[key]
|   end
| end
| ```
| Let `Store#put` refuse nil.
model
| ```ruby:lib/store.rb
| require 'set'
|
| class Store
|   def put(key, value)
|     raise ArgumentError, key if value.nil?
|     @items[key] = value
|     value
|   end
|
|   def get(key)
|     @items[key]
|   end
| end
| ```

user
| Show me `Store#put`
