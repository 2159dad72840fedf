/** To which shards the router's own targeting code sends the operations of a shape. */
import { encode, findField, type Document } from '@shardlab/bson'
import { previewRoute, type PreviewedOperation, type PreviewedRoute } from '@shardlab/mongos'
import type { CollectionPlacement, EmulatedVersion } from '@shardlab/sharding'
import type { Shape, Statement } from '../file/application.js'
import type { Keys, Progress } from '../keys/keys.js'
import { drawnOnce, filterOf } from '../run/filter.js'

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
  /** The route of each statement in one operation of the most frequent kind. */
  readonly example: readonly PreviewedRoute[]
}

/** Of a whole operation. */
interface SampledRoute extends PreviewedRoute {
  readonly statements: readonly PreviewedRoute[]
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
  const routes: SampledRoute[] = []
  const known = new Map<string, SampledRoute>()
  for (let i = 0; i < samples; i++) {
    const statements = statementsOf(request, i)
    const id = JSON.stringify(statements.map(([, document]) => document))
    let route = known.get(id)
    if (route === undefined) {
      const each = statements.map(([statement, document]) =>
        previewRoute(emulate, placement, allShards, operationOf(statement, document)),
      )
      known.set(id, (route = { ...together(each), statements: each }))
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
    example: routes.find(({ kind }) => kind === most)!.statements,
  }
}

/** A transaction goes to the shards of all its statements. */
function together(routes: readonly PreviewedRoute[]): PreviewedRoute {
  const refused = routes.find(({ error }) => error !== null)
  if (routes.length === 1 || refused !== undefined) return refused ?? routes[0]!
  const shards = [...new Set(routes.flatMap((route) => route.shards))]
  const broadcast = routes.find(({ kind }) => kind === 'broadcast')
  return { ...(broadcast ?? routes[0]!), kind: broadcast?.kind ?? (shards.length === 1 ? 'targeted' : 'multi'), shards }
}

/**
 * The statements of the i-th sample, each with its filter or the document that it inserts; one if
 * the operation is no transaction.
 */
function statementsOf({ shape, fields, progressOf }: ShapeRequest, i: number): (readonly [Statement, Document])[] {
  let draws = 0
  const fraction = (): number => {
    const n = draws++
    return n === 0 ? (i + 0.5) / samples : (0.5 + (i + n) * strides[(n - 1) % strides.length]!) % 1
  }
  const fractionOf = drawnOnce(shape.same, fraction)
  return (shape.statements ?? [shape as Statement]).map((statement) => {
    if (statement.do !== 'insert') {
      const draw = (field: string) => ({
        keys: fields.get(field),
        progress: progressOf(field),
        u: fractionOf(field),
      })
      return [statement, filterOf(statement, draw)]
    }
    const values = [...fields].map(([field, keys]) => [field, keys.ofDocument(fraction(), progressOf(field))])
    return [statement, { _id: progressOf('_id').documents, ...Object.fromEntries(values) }]
  })
}

function operationOf({ do: kind }: Statement, document: Document): PreviewedOperation {
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
