import { PortError, type Fields, type PortOptions } from '@shardlab/unique'

export interface UniqueKey {
  readonly fields: readonly string[]
  readonly sparse: boolean
  /** Maps values to the values that have to differ; default: identity. */
  readonly fold?: (value: unknown) => unknown
}

const at = (document: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, part) => (value as Fields | null | undefined)?.[part], document)

const key = (value: unknown): string =>
  value instanceof Date ? `date ${value.getTime()}` : JSON.stringify(value ?? null)

export class MemoryCollection {
  readonly name: string
  documents: Fields[] = []
  readonly #keys: readonly UniqueKey[]

  /** `_id` is unique only if it is among the keys, as in a sharded collection. */
  constructor(name: string, keys: readonly UniqueKey[]) {
    this.name = name
    this.#keys = keys
  }

  insertOne(document: Fields): void {
    const clash = this.#keys.find((each) =>
      this.documents.some((other) => {
        const values = each.fields.map((field) => at(document, field))
        const others = each.fields.map((field) => at(other, field))
        if (
          each.sparse &&
          (values.every((value) => value === undefined) || others.every((value) => value === undefined))
        )
          return false
        const fold = each.fold ?? ((value) => value)
        return values.every((value, i) => key(fold(value)) === key(fold(others[i])))
      }),
    )
    if (clash !== undefined) throw new PortError('duplicate', `E11000 ${clash.fields.join()}`)
    this.documents.push(copied(document))
  }

  findOne(filter: Fields, options?: PortOptions): Fields | null {
    const found = this.documents.find((document) => matches(document, filter, options))
    return found === undefined ? null : copied(found)
  }

  find(filter: Fields): Fields[] {
    return copied(this.documents.filter((document) => matches(document, filter)))
  }

  updateOne(filter: Fields, update: Fields, options?: PortOptions): number {
    return this.findOneAndUpdate(filter, update, options) === null ? 0 : 1
  }

  findOneAndUpdate(filter: Fields, update: Fields, options?: PortOptions): Fields | null {
    const index = this.documents.findIndex((document) => matches(document, filter, options))
    if (index < 0) return null
    const changed = copied(this.documents[index]!)
    for (const [field, value] of Object.entries((update['$set'] ?? {}) as Fields)) changed[field] = value
    for (const field of Object.keys((update['$unset'] ?? {}) as Fields)) delete changed[field]
    this.documents[index] = changed
    return copied(changed)
  }

  deleteOne(filter: Fields, options?: PortOptions): number {
    const index = this.documents.findIndex((document) => matches(document, filter, options))
    if (index >= 0) this.documents.splice(index, 1)
    return index >= 0 ? 1 : 0
  }
}

function matches(document: Fields, filter: Fields, options?: PortOptions): boolean {
  return Object.entries(filter).every(([field, condition]) => {
    if (field === '$or') return (condition as Fields[]).some((each) => matches(document, each, options))
    const value = at(document, field)
    if (typeof condition !== 'object' || condition === null) return key(value) === key(condition)
    return Object.entries(condition as Fields).every(([operator, operand]) => {
      const fold = options?.collation === undefined ? (each: unknown) => each : lowerCase
      switch (operator) {
        case '$eq':
          return key(fold(value)) === key(fold(operand))
        case '$ne':
          return key(value) !== key(operand)
        case '$exists':
          return (value !== undefined) === operand
        case '$lt':
          return value !== undefined && (value as Date) < (operand as Date)
        default:
          throw new Error(`the model has no ${operator}`)
      }
    })
  })
}

/** The effect of every collation of the model. */
export const lowerCase = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)

function copied<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copied) as T
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copied(each)])) as T
}
