/**
 * A mutable document. Values stay raw bytes until one of their fields is accessed; fields keep
 * their order.
 */
import { BsonType, DocumentWriter, documentValue, FieldIterator, RawValue } from '@shardlab/bson'

interface Entry {
  readonly name: string
  node: TreeNode
}

export class TreeNode {
  readonly type: number
  #raw: RawValue | null
  #entries: Entry[] | null = null

  private constructor(type: number, raw: RawValue | null, entries: Entry[] | null) {
    this.type = type
    this.#raw = raw
    this.#entries = entries
  }

  static of(value: RawValue): TreeNode {
    return new TreeNode(value.type, value, null)
  }

  static ofDocument(document: Uint8Array): TreeNode {
    return TreeNode.of(documentValue(document))
  }

  static emptyObject(): TreeNode {
    return new TreeNode(BsonType.object, null, [])
  }

  get isObject(): boolean {
    return this.type === BsonType.object
  }

  get isArray(): boolean {
    return this.type === BsonType.array
  }

  get length(): number {
    return this.#open().length
  }

  /** For objects. */
  get(name: string): TreeNode | undefined {
    return this.#open().find((entry) => entry.name === name)?.node
  }

  /** For arrays. */
  at(index: number): TreeNode | undefined {
    return this.#open()[index]?.node
  }

  set(name: string, node: TreeNode): void {
    const entries = this.#changed()
    const entry = entries.find((candidate) => candidate.name === name)
    if (entry === undefined) entries.push({ name, node })
    else entry.node = node
  }

  /** The field must not exist. */
  prepend(name: string, node: TreeNode): void {
    this.#changed().unshift({ name, node })
  }

  /** For arrays. Adds `filler` up to the index if the array is shorter. */
  setAt(index: number, node: TreeNode, filler: TreeNode): void {
    const entries = this.#changed()
    while (entries.length < index) entries.push({ name: '', node: filler })
    const entry = entries[index]
    if (entry === undefined) entries.push({ name: '', node })
    else entry.node = node
  }

  /** For arrays. @returns whether its length was another one */
  resize(length: number, filler: TreeNode): boolean {
    if (this.length === length) return false
    const entries = this.#changed()
    entries.length = Math.min(entries.length, length)
    while (entries.length < length) entries.push({ name: '', node: filler })
    return true
  }

  remove(name: string): void {
    const entries = this.#changed()
    const index = entries.findIndex((entry) => entry.name === name)
    if (index >= 0) entries.splice(index, 1)
  }

  /** Call it after a change below this value: the raw bytes are no longer valid. */
  touch(): void {
    this.#changed()
  }

  toRaw(): RawValue {
    if (this.#raw !== null) return this.#raw
    const document = this.#serialize()
    return new RawValue(this.type, document, 0, document.length)
  }

  toDocument(): Uint8Array {
    return this.toRaw().slice()
  }

  #serialize(): Uint8Array {
    const writer = new DocumentWriter()
    this.#writeFields(writer)
    return writer.finish()
  }

  #writeFields(writer: DocumentWriter): void {
    this.#entries!.forEach((entry, index) => {
      const name = this.isArray ? String(index) : entry.name
      const { node } = entry
      if (node.#raw !== null) writer.value(name, node.#raw)
      else {
        if (node.isArray) writer.startArray(name)
        else writer.startDocument(name)
        node.#writeFields(writer)
        writer.end()
      }
    })
  }

  #open(): Entry[] {
    if (this.#entries === null) {
      const entries: Entry[] = []
      const raw = this.#raw!
      for (const it = new FieldIterator(raw.bytes, raw.start); it.next();)
        entries.push({ name: it.name(), node: TreeNode.of(it.value()) })
      this.#entries = entries
    }
    return this.#entries
  }

  #changed(): Entry[] {
    const entries = this.#open()
    this.#raw = null
    return entries
  }
}
