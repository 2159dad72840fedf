/**
 * The least that a cluster of this many members costs: one member sends a request, another writes a
 * change to its log, waits for its disk and answers, without decisions, look-ups or routing. Runs
 * in its own process; prints the cost of one exchange as a line of JSON.
 */
import {
  catalogue,
  type Actor,
  type ActorContext,
  type ActorFactory,
  type MessageKind,
  type ReplyOf,
} from '@shardlab/actor'
import { DocumentWriter, emptyDocument, findField } from '@shardlab/bson'
import { createCollection, type NodeRole, type StorageNode } from '@shardlab/node'
import { nodeAlone } from '@shardlab/node/testing'
import { createSimulatedRuntime } from '@shardlab/runtime'
import { behavioursOf } from '@shardlab/sharding'

export interface FloorTask {
  readonly members: number
  /** Concurrent exchanges. */
  readonly atOnce: number
  readonly exchanges: number
}

export interface FloorResult {
  readonly exchangeMicros: number
}

const { members, atOnce, exchanges } = JSON.parse(process.argv[2]!) as FloorTask
const { request, reply } = catalogue['node.command'].example
const behaviours = behavioursOf('4.4')
const ns = 'config.rangeDeletions'

const role: NodeRole = {
  name: 'shard',
  setName: 'shard',
  memberName: 'shard',
  rows: [],
  enter: () => ({ ownership: null }),
  checkReplacement: () => {},
  checkImplicitCreate: () => {},
}

const operations = ['i', 'u', 'd'] as const

/** Inserts a document, changes it, deletes it, and repeats. */
const noting: ActorFactory<never> = (context: ActorContext): Actor => {
  let node: StorageNode
  let noted = 0
  const note = (): void => {
    const op = operations[noted % operations.length]!
    const id = Math.floor(noted / operations.length)
    noted++
    const object = new DocumentWriter(512).int64('_id', BigInt(id))
    if (op !== 'd') object.string('nss', 'app.c').string('donorShardId', 'shard0001').string('range', op.repeat(200))
    const document = object.finish()
    const collection = node.collection(ns)!
    node.apply({ op, ns, uuid: collection.uuid, object: document, id: findField(document, '_id')!, session: null })
  }
  return {
    async start() {
      node = nodeAlone(context, { behaviours, maxWireVersion: 9 }, () => role).node()
      createCollection(node, ns, emptyDocument)
      await node.flush()
    },
    async wake(timer) {
      await node.wake(timer)
    },
    async receive<K extends MessageKind>(): Promise<ReplyOf<K>> {
      note()
      await node.flush()
      return reply as ReplyOf<K>
    },
  }
}

const asking: ActorFactory<never> = (context: ActorContext): Actor => ({
  async receive<K extends MessageKind>(): Promise<ReplyOf<K>> {
    let begun = 0
    const ask = async (): Promise<void> => {
      while (begun < exchanges) {
        begun++
        await context.request(`member${context.random.below(members)}`, 'node.command', request)
      }
    }
    await context.all(Array.from({ length: atOnce }, ask))
    return reply as ReplyOf<K>
  },
})

const runtime = createSimulatedRuntime({ roles: { noting, asking }, seed: 1 })
const spec = (address: string, role: string) => ({
  address,
  role,
  options: null,
  listen: null,
  diskLimitBytes: 256 * 1024 ** 2,
})
await runtime.start([
  spec('asker', 'asking'),
  ...Array.from({ length: members }, (_, i) => spec(`member${i}`, 'noting')),
])
const before = process.cpuUsage()
await runtime.request('asker', 'node.command', request)
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${JSON.stringify({ exchangeMicros: (user + system) / exchanges } satisfies FloorResult)}\n`)
