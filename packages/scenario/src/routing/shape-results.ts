import type { EmulatedVersion } from '@shardlab/sharding'
import { fieldKeysOf, type Progress } from '../keys/keys.js'
import type { Shape, Statement, Stream } from '../file/application.js'
import { rounded } from '../run/imbalance.js'
import type { ScenarioWorld } from '../run/world.js'
import type { ShapeResult } from '../types.js'
import { becauseOf } from './because.js'
import { targetsOf } from './shape-targets.js'

/** What each operation of the application becomes with the present owners. */
export async function shapeResults(world: ScenarioWorld): Promise<ShapeResult[]> {
  const results: ShapeResult[] = []
  for (const stream of world.scenario.workload)
    for (const shape of stream.shapes) if (shape.do !== 'expire') results.push(await resultOf(world, stream, shape))
  return results
}

async function resultOf(world: ScenarioWorld, stream: Stream, shape: Shape): Promise<ShapeResult> {
  const { ns } = stream
  const { cluster, catalog, measured, makers, scenario } = world
  const placement = await catalog.get(ns)!.placement()
  const common = { ns, name: shape.name, operation: operationText(shape), share: shape.share }
  if (placement === null || placement.isUnsplittable) {
    const kinds = { targeted: 1, multi: 0, broadcast: 0, refused: 0 }
    return { ...common, kinds, shards: 1, because: 'the collection is not sharded' }
  }
  const progressOf = (field: string): Progress => (measured.get(ns) ?? makers.get(ns)!).progressOf(field)
  const emulate = scenario.emulate as EmulatedVersion
  const fields = fieldKeysOf(stream.fields)
  const targets = targetsOf({ emulate, shape, fields, progressOf, placement, allShards: cluster.shards })
  const { kinds, perShard, example } = targets
  const key = Object.fromEntries(
    placement.shardKey.fields.map(({ path, hashed }) => [path, hashed ? 'hashed' : 1] as const),
  )
  const accepted = 1 - kinds.refused
  const sent = [...perShard.values()].reduce((sum, each) => sum + each, 0)
  return {
    ...common,
    kinds: {
      targeted: rounded(kinds.targeted),
      multi: rounded(kinds.multi),
      broadcast: rounded(kinds.broadcast),
      refused: rounded(kinds.refused),
    },
    shards: accepted === 0 ? 0 : rounded(sent / accepted),
    because: (shape.statements ?? [shape as Statement])
      .map((statement, i) => becauseOf(statement, key, example[i]!))
      .filter((because, i, all) => all.indexOf(because) === i)
      .join('; '),
  }
}

/** `find { tenant, order: range }`. */
function operationText({ do: kind, where, statements = [] }: Pick<Shape, 'do' | 'where' | 'statements'>): string {
  if (kind === 'transaction') return `transaction: ${statements.map(operationText).join(', ')}`
  const conditions = Object.entries(where).map(([field, condition]) =>
    condition === 'equal' ? field : `${field}: ${'range' in condition ? 'range' : 'in'}`,
  )
  if (kind === 'insert') return 'insert'
  return conditions.length === 0 ? `${kind} {}` : `${kind} { ${conditions.join(', ')} }`
}
