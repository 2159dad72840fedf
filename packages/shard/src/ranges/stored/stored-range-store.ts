import type { NodeHost } from '@shardlab/node'
import type { Collection } from '@shardlab/storage'
import type { CollectionRanges, RangeStore } from '../collection-ranges.js'
import { StoredRanges } from './stored-ranges.js'

export class StoredRangeStore implements RangeStore {
  readonly #node: NodeHost

  constructor(node: NodeHost) {
    this.#node = node
  }

  start(): void {}

  of(collection: Collection): CollectionRanges {
    return new StoredRanges(this.#node, collection)
  }

  ofTemporary(_ns: string, collection: Collection): CollectionRanges {
    return this.of(collection)
  }

  watchSizes(): void {}

  checkCommand(): void {}

  checkCopied(): void {}
}
