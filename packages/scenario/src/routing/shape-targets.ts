/** To which shards the router's own targeting code sends the operations of a shape. */
import { encode, findField, type Document } from '@shardlab/bson'
import { previewRoute, type PreviewedOperation, type PreviewedRoute } from '@shardlab/mongos'
import type { CollectionPlacement, EmulatedVersion } from '@shardlab/sharding'
import type { Shape } from '../file/application.js'
import type { Keys, Progress } from '../keys/keys.js'
import { filterOf } from '../run/filter.js'

/** Operations of a shape that are routed; they stand for all. */
const samples = 256
/** Fractions that are far from those of others: each field is drawn independently. */
const strides = [0.6180339887498949, 0.7548776662466927, 0.8191725133961645, 0.5698402909980532] as const

export type RoutingKind = PreviewedRoute['kind']

export interface ShapeTargets {
  /** Shares of the operations. */
  readonly kinds: Readonly<Record<RoutingKind, number>>
  /** Share of the operations; an operation on two shards counts for both. */
  readonly perShard: ReadonlyMap<string, number>
  /** Code of the router's error; null: it refuses nothing. */
  readonly refusedCode: number | null
  /** Share of operations that need one of these shards. */
  readonly failing: (down: ReadonlySet<string>) => number
  /** The most frequent kind, of one operation. */
  readonly example: PreviewedRoute
}

export interface ShapeRequest {
  readonly emulate: EmulatedVersion
  readonly shape: Shape
  readonly fields: ReadonlyMap<string, Keys>
  readonly progressOf: (field: string) => Progress
  readonly placement: CollectionPlacement
  readonly allShards: readonly string[]
}

export function targetsOf(request: ShapeRequest): ShapeTargets {
  const { emulate, placement, allShards } = request
  const kinds: Record<RoutingKind, number> = { targeted: 0, multi: 0, broadcast: 0, refused: 0 }
  const perShard = new Map<string, number>()
  const routes: PreviewedRoute[] = []
  const known = new Map<string, PreviewedRoute>()
  for (let i = 0; i < samples; i++) {
    const document = documentOf(request, i)
    const id = JSON.stringify(document)
    let route = known.get(id)
    if (route === undefined) {
      route = previewRoute(emulate, placement, allShards, operationOf(request.shape, document))
      known.set(id, route)
    }
    routes.push(route)
    kinds[route.kind] += 1 / samples
    for (const shard of route.shards) perShard.set(shard, (perShard.get(shard) ?? 0) + 1 / samples)
  }
  const most = (Object.keys(kinds) as RoutingKind[]).reduce((a, b) => (kinds[b] > kinds[a] ? b : a))
  return {
    kinds,
    perShard,
    refusedCode: routes.find(({ error }) => error !== null)?.error?.code ?? null,
    failing: (down) => routes.filter(({ shards }) => shards.some((shard) => down.has(shard))).length / samples,
    example: routes.find(({ kind }) => kind === most)!,
  }
}

/** The filter of the i-th sample, or the document that it inserts. */
function documentOf({ shape, fields, progressOf }: ShapeRequest, i: number): Document {
  let draws = 0
  const fraction = (): number => {
    const n = draws++
    return n === 0 ? (i + 0.5) / samples : (0.5 + (i + n) * strides[(n - 1) % strides.length]!) % 1
  }
  if (shape.do !== 'insert')
    return filterOf(shape, (field) => ({ keys: fields.get(field), progress: progressOf(field), u: fraction() }))
  const values = [...fields].map(([field, keys]) => [field, keys.ofDocument(fraction(), progressOf(field))])
  return { _id: progressOf('_id').documents, ...Object.fromEntries(values) }
}

function operationOf({ do: kind }: Shape, document: Document): PreviewedOperation {
  const filter = encode(document)
  if (kind === 'insert') return { kind: 'insert', document: filter }
  if (kind === 'find') return { kind: 'find', filter }
  const multi = kind === 'updateMany' || kind === 'deleteMany'
  if (kind === 'deleteOne' || kind === 'deleteMany') {
    const statement = { kind: 'delete', filter, multi } as const
    return { kind: 'write', statement, document: encode({ q: document, limit: multi ? 0 : 1 }) }
  }
  const u = { $inc: { updates: 1 } }
  const whole = encode({ q: document, u, multi })
  const update = findField(whole, 'u')!
  const statement = { kind: 'update', filter, update, multi, upsert: false, upsertSupplied: false } as const
  return { kind: 'write', statement, document: whole }
}
