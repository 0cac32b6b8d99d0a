# frozen_string_literal: true
# A store. def not_me; end
require "json"

MAX = 10
Point = Struct.new(:x, :y) do
  def norm = Math.sqrt(x * x + y * y)
end

=begin
class Fake
end
=end

module Store
  class Error < StandardError; end

  # Keeps notes.
  class Notes
    include Enumerable
    LIMIT = 5

    attr_reader :size

    def initialize(size = 1, name: "end")
      @size = size if size
      @class = self.class
      return if name.empty?
    end

    def self.load(path)
      text = <<~TEXT
        def fake
        end
      TEXT
      new(text.size)
    end

    def each
      return enum_for(:each) unless block_given?

      while @size > 0 do
        yield @size
        @size -= 1
      end
      %w[if end { do].each do |word|
        case word
        when "end" then puts "#{word ? "end" : 'do'}"
        end
      end
    end

    def size=(value)
      @size = if value > LIMIT then LIMIT else value end
    end

    def empty? = @size.zero?

    def <=>(other)
      size <=> other.size
    end

    class << self
      def build(...)
        new(...)
      end
    end

    private

    private def later
      raise NotImplementedError, "later"
    end
  end

  def self.open
    begin
      yield
    rescue Error => e
      nil
    ensure
      close
    end
  end
end

def helper; end
