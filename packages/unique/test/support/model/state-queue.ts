/** The states of a search in the order of their discovery, each once. A state is three numbers. */
const bits = 26

export class StateQueue {
  #columns: Int32Array[] = Array.from({ length: 4 }, () => new Int32Array(1024))
  /** By the number of the surroundings: the clients' numbers in one. */
  readonly #seen: Set<number>[] = []
  size = 0

  /** @param from the number of the state before; -1: the first state */
  add(surroundings: number, first: number, second: number, from: number): void {
    const clients = first * 2 ** bits + second
    const seen = (this.#seen[surroundings] ??= new Set())
    if (seen.has(clients)) return
    seen.add(clients)
    if (this.size === this.#columns[0]!.length) this.#columns = this.#columns.map(doubled)
    const [a, b, c, d] = this.#columns as [Int32Array, Int32Array, Int32Array, Int32Array]
    a[this.size] = surroundings
    b[this.size] = first
    c[this.size] = second
    d[this.size++] = from
  }

  surroundings(state: number): number {
    return this.#columns[0]![state]!
  }

  client(state: number, client: 0 | 1): number {
    return this.#columns[1 + client]![state]!
  }

  from(state: number): number {
    return this.#columns[3]![state]!
  }
}

function doubled(column: Int32Array): Int32Array {
  const larger = new Int32Array(column.length * 2)
  larger.set(column)
  return larger
}
