package com.example

import kotlin.math.sqrt

const val MAX = 10
val names: List<String>
    get() = listOf("{", "fun fake() {")
typealias Handler = (String) -> Unit

/** A point. class Fake {} */
data class Point(val x: Int, val y: Int)

@Serializable
sealed class Shape<out T : Any>(protected val name: String = "}") : Base(name), Closeable {
    private val cache by lazy { mutableMapOf<String, T>() }

    constructor(x: Int) : this("$x")

    init {
        require(name.isNotEmpty()) { "empty ${if (true) "}" else '{'}" }
    }

    abstract fun area(): Double

    override fun close() {
        cache.clear()
    }

    fun norm(x: Double, y: Double): Double = sqrt(x * x + y * y)

    suspend inline fun <reified R> load(
        path: String,
        noinline then: (R) -> Unit = {},
    ): R? where R : Any {
        return null
    }

    companion object Factory {
        fun create(): Shape<String> = TODO("later")
    }

    enum class Kind { ROUND, FLAT }

    inner class Cursor {
        operator fun next(): Int { return 1 }
    }
}

object Registry {
    fun add(shape: Shape<*>) = Unit
}

fun interface Visitor { fun visit(point: Point) }

fun String.shout(): String {
    /* nested /* } */ */
    return """
        fun fake() {
        ${uppercase()}
    """.trimIndent()
}

fun `does what it says`() {
    // TODO
}
