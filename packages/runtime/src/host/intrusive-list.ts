/** Can be in one {@link IntrusiveList} at a time. */
export interface ListNode<Item> {
  previous: Item | null
  next: Item | null
}

/**
 * Linked through its items, in the order in which they were added. Every message adds and deletes
 * items, for which a Set would reallocate its table again and again.
 */
export class IntrusiveList<Item extends ListNode<Item>> {
  #first: Item | null = null
  #last: Item | null = null
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The item must not be in any list. */
  add(item: Item): void {
    item.previous = this.#last
    if (this.#last === null) this.#first = item
    else this.#last.next = item
    this.#last = item
    this.#size++
  }

  /** No error when the item is in no list. */
  delete(item: Item): void {
    const { previous, next } = item
    if (previous === null && this.#first !== item) return
    if (previous === null) this.#first = next
    else previous.next = next
    if (next === null) this.#last = previous
    else next.previous = previous
    item.previous = null
    item.next = null
    this.#size--
  }

  some(fits: (item: Item) => boolean): boolean {
    for (let item = this.#first; item !== null; item = item.next) if (fits(item)) return true
    return false
  }

  takeAll(): Item[] {
    const items: Item[] = []
    for (let item = this.#first; item !== null; item = this.#first) {
      items.push(item)
      this.delete(item)
    }
    return items
  }
}
