import type { ClusterEvent } from '@shardlab/cluster'

export class Routed {
  readonly #namespaces: ReadonlySet<string>
  readonly perShard = new Map<string, number>()
  readonly kinds = { targeted: 0, multi: 0, broadcast: 0 }
  total = 0

  constructor(namespaces: readonly string[]) {
    this.#namespaces = new Set(namespaces)
  }

  count(kind: keyof Routed['kinds'], operations: number): void {
    this.total += operations
    this.kinds[kind] += operations
  }

  ask(shard: string, operations: number): void {
    this.perShard.set(shard, (this.perShard.get(shard) ?? 0) + operations)
  }

  readonly onEvent = (event: ClusterEvent): void => {
    if (event.type !== 'routed' || !this.#namespaces.has(event.ns)) return
    this.count(event.kind, 1)
    for (const shard of event.shards) this.ask(shard, 1)
  }
}
