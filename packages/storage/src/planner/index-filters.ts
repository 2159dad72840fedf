/** Manual: reference/command/planCacheSetFilter. Server: query_settings_decoration.cpp. */
import { compareDocuments, type StringComparator } from '@shardlab/bson'
import { queryShapeText, type QueryShape } from './query-shape.js'

/** A shape of queries, and the only indexes that the planner considers for it. */
export interface IndexFilter {
  readonly query: Uint8Array
  readonly sort: Uint8Array
  readonly projection: Uint8Array
  /** Empty: the collation of the collection. */
  readonly collation: Uint8Array
  /** Key patterns and names. */
  readonly indexes: readonly (Uint8Array | string)[]
}

/** Of one collection and its snapshots. Lost when its process ends. */
export class IndexFilters {
  /** Null: there are none, and no query needs its shape. */
  #byShape: Map<string, (IndexFilter & { readonly strings: StringComparator | undefined })[]> | null = null

  get isEmpty(): boolean {
    return this.#byShape === null
  }

  all(): IndexFilter[] {
    return [...(this.#byShape?.values() ?? [])].flat()
  }

  /** Replaces that of the same shape. */
  set(shape: QueryShape, strings: StringComparator | undefined, filter: IndexFilter): void {
    this.#byShape ??= new Map()
    const text = queryShapeText(shape)
    const others = (this.#byShape.get(text) ?? []).filter((each) => each.strings !== strings)
    this.#byShape.set(text, [...others, { ...filter, strings }])
  }

  remove(shape: QueryShape, strings: StringComparator | undefined): void {
    const text = queryShapeText(shape)
    const others = this.#byShape?.get(text)?.filter((each) => each.strings !== strings) ?? []
    if (others.length > 0) this.#byShape!.set(text, others)
    else this.#byShape?.delete(text)
    if (this.#byShape?.size === 0) this.#byShape = null
  }

  clear(): void {
    this.#byShape = null
  }

  /** Null: the planner considers all indexes. */
  allowed<I extends { readonly name: string; readonly key: Uint8Array }>(
    shape: QueryShape,
    strings: StringComparator | undefined,
    indexes: readonly I[],
  ): I[] | null {
    const filter = this.#byShape?.get(queryShapeText(shape))?.find((each) => each.strings === strings)
    if (filter === undefined) return null
    return indexes.filter((index) => isNamed(index, filter.indexes))
  }
}

/** @param names names and key patterns */
export function isNamed(
  { name, key }: { readonly name: string; readonly key: Uint8Array },
  names: readonly (Uint8Array | string)[],
): boolean {
  return names.some((each) => (typeof each === 'string' ? each === name : compareDocuments(each, key) === 0))
}
