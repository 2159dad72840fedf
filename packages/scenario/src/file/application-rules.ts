import type { KeysSource, OperationSource } from './application-schema.js'
import type { BrokenRule, Rule } from './broken-rule.js'
import type { CollectionSource, ScenarioSource, WorkloadSource } from './schema.js'

export const applicationRules: readonly Rule[] = [
  keysOrFields,
  workloadsSayWhatTheyDo,
  operationsUseFields,
  hotKeysAreSaidOnce,
  keysFitTheirCollection,
]

type Path = readonly (string | number)[]

function* keysOrFields({ collections, data, workload }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, { key, fields }] of collections.entries())
    for (const name of Object.keys(key))
      if (fields !== undefined && !(name in fields) && name !== '_id')
        yield {
          path: ['collections', i, 'key'],
          message: `must use fields of the collection; ${name} is not one of ${Object.keys(fields).join(', ')}`,
        }
  for (const [name, list] of Object.entries({ data, workload }))
    for (const [i, entry] of list.entries()) {
      const { fields } = collectionOf(collections, entry.ns)
      const needsKeys = !('expiry' in entry) || entry.expiry === undefined
      if (fields === undefined && entry.keys === undefined && needsKeys)
        yield { path: [name, i, 'keys'], message: 'is missing' }
      if (fields !== undefined && entry.keys !== undefined)
        yield { path: [name, i, 'keys'], message: `must not be set: ${entry.ns} has fields with their distributions` }
    }
}

function* workloadsSayWhatTheyDo({ collections, workload }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, entry] of workload.entries()) {
    const broken = (setting: string, message: string): BrokenRule => ({ path: ['workload', i, setting], message })
    const { rate, growth, expiry, mix, operations } = entry
    const { fields, mode } = collectionOf(collections, entry.ns)
    const kinds = (['mix', 'operations', 'growth', 'expiry'] as const).filter((name) => entry[name] !== undefined)
    if (kinds.length === 0) yield broken('mix', 'is missing; or set operations, growth or expiry')
    if (kinds.length > 1) yield broken(kinds[1]!, `excludes ${kinds[0]}: use two workloads`)
    const isRated = mix !== undefined || operations !== undefined
    if (isRated && rate === undefined) yield broken('rate', 'is missing')
    if (!isRated && rate !== undefined)
      yield broken('rate', `must not be set: ${growth === undefined ? 'expiry' : 'growth'} determines it`)
    if (mix !== undefined && fields !== undefined)
      yield broken('mix', `is relative to the key, but ${entry.ns} has fields: use operations`)
    if (operations !== undefined && fields === undefined)
      yield broken('operations', `needs fields of the collection ${entry.ns}`)
    if (expiry !== undefined && mode !== 'metadata') yield broken('expiry', 'is allowed only in mode metadata')
  }
}

function* operationsUseFields({ collections, workload }: ScenarioSource): Generator<BrokenRule, void> {
  for (const [i, { ns, operations }] of workload.entries()) {
    const { fields = {}, mode } = collectionOf(collections, ns)
    const names = new Set<string>()
    for (const [k, operation] of (operations ?? []).entries()) {
      const { name, do: kind, statements = [], same = [] } = operation
      const path: Path = ['workload', i, 'operations', k]
      if (names.has(name)) yield { path: [...path, 'name'], message: `${name} is listed twice` }
      names.add(name)
      yield* statementUsesFields(operation, ns, fields, path)
      for (const [n, statement] of statements.entries())
        yield* statementUsesFields(statement, ns, fields, [...path, 'statements', n])
      for (const [n, field] of same.entries())
        if (kind === 'transaction' && !statements.some(({ where }) => field in where))
          yield { path: [...path, 'same', n], message: `${field} is in no where of the statements` }
      yield* transactionHasStatements(operation, path)
      if (kind === 'deleteMany' && mode === 'metadata')
        yield { path: [...path, 'do'], message: 'must not be deleteMany in mode metadata: use expiry' }
      if (kind === 'transaction' && mode === 'metadata')
        yield { path: [...path, 'do'], message: 'must not be transaction in mode metadata, which sends no statements' }
    }
  }
}

function* statementUsesFields(
  { do: kind, where }: Pick<OperationSource, 'do' | 'where'>,
  ns: string,
  fields: object,
  path: Path,
): Generator<BrokenRule, void> {
  for (const field of Object.keys(where))
    if (!(field in fields) && field !== '_id')
      yield {
        path: [...path, 'where', field],
        message: `is not a field of ${ns}; the fields are ${Object.keys(fields).join(', ')}`,
      }
  if (kind === 'insert' && Object.keys(where).length > 0)
    yield { path: [...path, 'where'], message: 'must not be set for an insert' }
}

function* transactionHasStatements(
  { do: kind, where, statements, same }: OperationSource,
  path: Path,
): Generator<BrokenRule, void> {
  if (kind === 'transaction') {
    if (statements === undefined) yield { path: [...path, 'statements'], message: 'is missing' }
    if (Object.keys(where).length > 0)
      yield { path: [...path, 'where'], message: 'must not be set for a transaction: its statements have conditions' }
    return
  }
  for (const [setting, value] of Object.entries({ statements, same }))
    if (value !== undefined) yield { path: [...path, setting], message: 'is allowed only for a transaction' }
}

function* hotKeysAreSaidOnce(scenario: ScenarioSource): Generator<BrokenRule, void> {
  for (const [path, keys] of distributionsOf(scenario)) {
    if (keys.distribution !== 'hotspot') continue
    const { hotKeys, shareOfKeys, cardinality } = keys
    if (hotKeys !== undefined && shareOfKeys !== undefined)
      yield { path: [...path, 'shareOfKeys'], message: 'excludes hotKeys, the number of hot keys' }
    if (hotKeys !== undefined && hotKeys > cardinality)
      yield { path: [...path, 'hotKeys'], message: `must be at most the cardinality, ${cardinality}` }
  }
}

function* keysFitTheirCollection(scenario: ScenarioSource): Generator<BrokenRule, void> {
  const { collections } = scenario
  for (const [path, keys] of distributionsOf(scenario)) {
    const [list, i, , field] = path
    const ns = list === 'collections' ? null : scenario[list as 'data' | 'workload'][i as number]!.ns
    const name = ns === null ? field : Object.keys(collectionOf(collections, ns).key)[0]
    if (name !== '_id') continue
    const fits =
      keys.distribution === 'monotonic' ||
      keys.distribution === 'latest' ||
      (keys.distribution === 'uniform' && keys.cardinality === undefined)
    if (!fits) yield { path, message: 'an _id cannot repeat: use monotonic, latest or uniform without cardinality' }
  }
}

/** With their places in the scenario. */
export function* distributionsOf({
  collections,
  data,
  workload,
}: ScenarioSource): Generator<readonly [Path, KeysSource], void> {
  for (const [i, { fields }] of collections.entries())
    for (const [name, keys] of Object.entries(fields ?? {})) yield [['collections', i, 'fields', name], keys]
  for (const [name, list] of Object.entries({ data, workload }))
    for (const [i, { keys }] of list.entries()) if (keys !== undefined) yield [[name, i, 'keys'], keys]
}

function collectionOf(collections: readonly CollectionSource[], wanted: string): CollectionSource {
  return collections.find(({ ns }) => ns === wanted)!
}

/** A share of at least one key. */
export function hotCount({
  cardinality,
  hotKeys,
  shareOfKeys = 0.2,
}: Pick<Extract<KeysSource, { distribution: 'hotspot' }>, 'cardinality' | 'hotKeys' | 'shareOfKeys'>): number {
  return hotKeys ?? Math.min(cardinality, Math.max(1, Math.round(cardinality * shareOfKeys)))
}

/** Inserts documents. */
export function inserts({ mix, operations, growth }: WorkloadSource): boolean {
  return (
    growth !== undefined ||
    (mix?.insert ?? 0) > 0 ||
    operations?.some(
      ({ do: kind, statements = [] }) => kind === 'insert' || statements.some((each) => each.do === 'insert'),
    ) === true
  )
}
