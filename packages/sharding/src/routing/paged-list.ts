/** Immutable. A draft of a list becomes another list, which shares the unchanged pages. */
export class PagedList<T> implements Iterable<T> {
  readonly length: number
  readonly #pages: Pages<T>

  constructor(length: number, pages: Pages<T>) {
    this.length = length
    this.#pages = pages
  }

  static of<T>(elements: readonly T[]): PagedList<T> {
    return new PagedList(elements.length, inPages(elements))
  }

  /** @param i less than the length */
  at(i: number): T {
    return this.#pages[i >>> pageBits]![i & (pageSize - 1)]!
  }

  draft(): PagedListDraft<T> {
    return new PagedListDraft(this.length, this.#pages)
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (const page of this.#pages) yield* page
  }
}

/** Copies each changed page once. */
export class PagedListDraft<T> {
  #length: number
  readonly #pages: (readonly T[])[]
  /** Pages that no other list shares. */
  readonly #own = new Set<readonly T[]>()

  constructor(length: number, pages: Pages<T>) {
    this.#length = length
    this.#pages = pages.slice()
  }

  at(i: number): T {
    return this.#pages[i >>> pageBits]![i & (pageSize - 1)]!
  }

  set(i: number, element: T): void {
    let page = this.#pages[i >>> pageBits] as T[]
    if (!this.#own.has(page)) {
      page = page.slice()
      this.#own.add(page)
      this.#pages[i >>> pageBits] = page
    }
    page[i & (pageSize - 1)] = element
  }

  push(element: T): void {
    if ((this.#length & (pageSize - 1)) === 0) {
      const page: T[] = []
      this.#own.add(page)
      this.#pages.push(page)
    }
    this.set(this.#length++, element)
  }

  /** Takes time proportional to the length of the list. */
  splice(start: number, deleteCount: number, ...elements: readonly T[]): void {
    const all = this.#pages.flat().toSpliced(start, deleteCount, ...elements)
    const pages = inPages(all)
    this.#length = all.length
    this.#pages.splice(0, this.#pages.length, ...pages)
    for (const page of pages) this.#own.add(page)
  }

  finish(): PagedList<T> {
    return new PagedList(this.#length, this.#pages)
  }
}

type Pages<T> = readonly (readonly T[])[]

const pageBits = 7
const pageSize = 2 ** pageBits

function inPages<T>(elements: readonly T[]): T[][] {
  const pages: T[][] = []
  for (let at = 0; at < elements.length; at += pageSize) pages.push(elements.slice(at, at + pageSize))
  return pages
}
