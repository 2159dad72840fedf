/** An immutable list of which a change copies a page and the list of pages: what lists of thousands cost that change one element at a time. */
export class PagedList<T> implements Iterable<T> {
  readonly length: number
  readonly #pages: readonly (readonly T[])[]

  private constructor(length: number, pages: readonly (readonly T[])[]) {
    this.length = length
    this.#pages = pages
  }

  static of<T>(elements: readonly T[]): PagedList<T> {
    const pages: T[][] = []
    for (let at = 0; at < elements.length; at += pageSize) pages.push(elements.slice(at, at + pageSize))
    return new PagedList(elements.length, pages)
  }

  /** @param i less than the length */
  at(i: number): T {
    return this.#pages[i >>> pageBits]![i & (pageSize - 1)]!
  }

  /** With another element in the place of the i-th. */
  with(i: number, element: T): PagedList<T> {
    const pages = this.#pages.slice()
    const page = pages[i >>> pageBits]!.slice()
    page[i & (pageSize - 1)] = element
    pages[i >>> pageBits] = page
    return new PagedList(this.length, pages)
  }

  /** With others in the place of some; costs as much as the list is long. */
  toSpliced(start: number, deleteCount: number, ...elements: readonly T[]): PagedList<T> {
    return PagedList.of([...this].toSpliced(start, deleteCount, ...elements))
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const page of this.#pages) yield* page
  }
}

const pageBits = 7
const pageSize = 2 ** pageBits
